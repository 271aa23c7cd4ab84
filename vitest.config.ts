import { defineConfig } from 'vitest/config';

export default defineConfig({
  // This package's own exports are its sources here, and dist/ elsewhere.
  ssr: { resolve: { conditions: ['parlance-source', 'node', 'import', 'module', 'default'] } },
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/bench/**'],
    globalSetup: ['test/contract/coverage/global-setup.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // A busy machine may leave a process without a core for a second.
    expect: { poll: { timeout: 10_000 } },
    // The tests' own Chromium and espeak-ng would leave PulseAudio's directories behind.
    env: { PULSE_RUNTIME_PATH: '/dev/null' },
    // Real programs and real sockets share two cores: a file at a time keeps their deadlines honest.
    fileParallelism: false,
  },
});
