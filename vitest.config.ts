import { defineConfig } from 'vitest/config';

/** Programs that this machine happens to have must not change what a service does: there are none. */
const withoutPrograms = { PATH: '/nowhere' };

const unit = 'test/**/*.unit.test.ts';
const processes = 'test/**/*.process.test.ts';
const system = 'test/**/*.system.test.ts';
const deploy = 'test/**/*.deploy.test.ts';

export default defineConfig({
  // This package's own exports are its sources here, and dist/ elsewhere.
  // Not `module`: @opentelemetry/api (of prom-client) has a build there that only bundlers can read.
  ssr: { resolve: { conditions: ['parlance-source', 'node', 'import', 'default'] } },
  test: {
    globalSetup: [
      'test/contract/coverage/global-setup.ts',
      'test/support/run-directories.ts',
      'test/support/fleet-global-setup.ts',
    ],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // A busy machine may leave a process without a core for a second.
    expect: { poll: { timeout: 10_000 } },
    // The tests' own Chromium and espeak-ng would leave PulseAudio's directories behind.
    env: { PULSE_RUNTIME_PATH: '/dev/null' },
    maxWorkers: 2,
    projects: [
      {
        // No sockets, no child processes. The files share their modules: they must not mock any.
        extends: true,
        test: {
          name: 'unit',
          include: [unit],
          isolate: false,
          env: withoutPrograms,
          setupFiles: ['test/support/no-processes.ts', 'test/support/no-sockets.ts'],
        },
      },
      {
        // The service or an engine in the test's own process, against servers on 127.0.0.1. No wall-clock bounds.
        extends: true,
        test: {
          name: 'service',
          include: ['test/**/*.test.ts'],
          exclude: [unit, processes, system, deploy, 'test/programs/**'],
          env: withoutPrograms,
          setupFiles: ['test/support/no-processes.ts', 'test/support/fleet-setup.ts'],
        },
      },
      {
        // Child processes, browsers, real programs, file descriptors, namespaces, installations. No stopwatches: the
        // programs of the other files may have both cores.
        extends: true,
        test: {
          name: 'process',
          include: [processes],
          maxWorkers: 3, // some of them wait for most of their time
          setupFiles: ['test/support/fleet-setup.ts'],
          sequence: { groupOrder: 1 },
        },
      },
      {
        // Stopwatches and memory: one file at a time, with nothing beside it.
        extends: true,
        test: { name: 'system', include: [system], fileParallelism: false, sequence: { groupOrder: 2 } },
      },
      {
        // What deploy/ has: the image, compose, the unit under systemd. Needs root, and more of a machine than others.
        extends: true,
        test: { name: 'deploy', include: [deploy], sequence: { groupOrder: 3 } },
      },
    ],
  },
});
