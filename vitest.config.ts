import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/bench/**'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Real programs and real sockets share two cores: a file at a time keeps their deadlines honest.
    fileParallelism: false,
  },
});
