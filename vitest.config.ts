import { defineConfig } from 'vitest/config';
import { SlowestFirst } from './test/support/slowest-first.ts';

/** Programs that this machine happens to have must not change what a service does: there are none. */
const withoutPrograms = { PATH: '/nowhere' };

/**
 * For files that share a process: Node.js itself imports the sources, as in `npm start`, and a young generation of the
 * size of what a test makes spares most collections. Together a fifth less processor time. They cannot mock modules.
 */
const shared = {
  isolate: false,
  experimental: { viteModuleRunner: false, nodeLoader: false },
  execArgv: ['--conditions=parlance-source', '--min-semi-space-size=32', '--max-semi-space-size=64'],
};

const unit = 'test/**/*.unit.test.ts';
const isolated = 'test/**/*.isolated.test.ts';
const processes = 'test/**/*.process.test.ts';
const system = 'test/**/*.system.test.ts';
const deploy = 'test/**/*.deploy.test.ts';
const install = 'test/**/*.install.test.ts';
const tables = 'test/**/*.table.test.ts';

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
    // Files share a process: what one has stubbed must not reach the next.
    unstubGlobals: true,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // A busy machine may leave a process without a core for seconds.
    expect: { poll: { timeout: 30_000 } },
    // The tests' own Chromium and espeak-ng would leave PulseAudio's directories behind.
    env: { PULSE_RUNTIME_PATH: '/dev/null' },
    maxWorkers: 3, // each of them waits for a third of its time
    sequence: { sequencer: SlowestFirst },
    projects: [
      {
        // No sockets, no child processes.
        extends: true,
        test: {
          ...shared,
          name: 'unit',
          include: [unit],
          env: withoutPrograms,
          setupFiles: ['test/support/no-processes.ts', 'test/support/no-sockets.ts'],
        },
      },
      {
        // The service or an engine in the test's own process, against servers on 127.0.0.1. No wall-clock bounds.
        extends: true,
        test: {
          ...shared,
          name: 'service',
          include: ['test/**/*.test.ts'],
          exclude: [unit, isolated, processes, system, install, tables, deploy, 'test/programs/**'],
          env: withoutPrograms,
          setupFiles: ['test/support/no-processes.ts', 'test/support/fleet-setup.ts'],
        },
      },
      {
        // The same for files that mock modules, or look at which are loaded: each has a process of its own.
        extends: true,
        test: {
          name: 'isolated',
          include: [isolated],
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
        // The package, a fresh clone, a fresh machine: what installs, downloads or builds. See test/parts.ts.
        extends: true,
        test: { name: 'install', include: [install], sequence: { groupOrder: 3 } },
      },
      {
        // The rows of large tables that a push leaves out. See test/parts.ts.
        extends: true,
        test: { name: 'tables', include: [tables], sequence: { groupOrder: 4 } },
      },
      {
        // What deploy/ has: the image, compose, the unit under systemd. Needs root, and more of a machine than others.
        extends: true,
        test: { name: 'deploy', include: [deploy], sequence: { groupOrder: 5 } },
      },
    ],
  },
});
