#!/usr/bin/env node
/** The command `parlance`. */
import { createRequire } from 'node:module';

const { version, engines } = createRequire(import.meta.url)('@parlance/server/package.json') as {
  readonly version: string;
  readonly engines: { readonly node: string };
};

interface Command {
  readonly about: string;
  /** Loads the module, which does the work. */
  readonly run: () => Promise<unknown>;
}

const commands: Readonly<Record<string, Command>> = {
  start: {
    about: 'start the service; this is also what happens without a command',
    run: async () => {
      withOneArena();
      process.env.NODE_ENV ??= 'production'; // answers are held against the contract where it is worked on
      await import('./start.ts');
    },
  },
  setup: { about: 'fetch and build what local transcription needs, then end', run: () => import('./setup.ts') },
  doctor: { about: 'say what was found, what is missing, and what fixes it', run: () => import('./doctor.ts') },
  init: { about: 'write an example parlance.config.yaml, with every setting', run: () => import('./init.ts') },
  'check-engine': {
    about: 'hold an engine against the engine contract: parlance check-engine ./my-engine.js',
    run: () => import('./check-engine.ts'),
  },
};

// What is left are the command's own arguments.
const [name = 'start'] = process.argv.splice(2, 1);
const command = Object.hasOwn(commands, name) ? commands[name] : undefined;

if (isOlder(process.versions.node, engines.node)) {
  console.error(`parlance needs Node.js ${engines.node}; this is ${process.version}.`);
  process.exitCode = 1;
} else if (command) {
  await command.run();
} else if (name === '--version' || name === '-v') {
  console.log(version);
} else if (name === '--help' || name === '-h') {
  console.log(usage());
} else {
  console.error(`parlance: there is no command "${name}".\n\n${usage()}`);
  process.exitCode = 2;
}

function usage(): string {
  const width = Math.max(...Object.keys(commands).map((name) => name.length));
  return [
    'Usage: parlance [command]',
    '',
    ...Object.entries(commands).map(([name, { about }]) => `  ${name.padEnd(width)}  ${about}`),
    '',
    'Settings come from the environment and from parlance.config.yaml in the working directory.',
  ].join('\n');
}

/** By the first two numbers, of `22.19.0` and `>=22.19`. */
function isOlder(version: string, needed: string): boolean {
  const numbersOf = (text: string) => text.match(/\d+/g)?.map(Number) ?? [];
  const [major = 0, minor = 0] = numbersOf(version);
  const [neededMajor = 0, neededMinor = 0] = numbersOf(needed);
  return major < neededMajor || (major === neededMajor && minor < neededMinor);
}

/**
 * The allocator of glibc keeps what each thread gave back; with one arena for all of them the service stays small. It
 * reads the variable once, before any of our code runs, so this process begins anew.
 */
function withOneArena(): void {
  const { env, execArgv, execPath, argv, platform } = process;
  if (platform !== 'linux' || env.MALLOC_ARENA_MAX !== undefined) return;
  process.execve?.(execPath, [execPath, ...execArgv, ...argv.slice(1)], { ...env, MALLOC_ARENA_MAX: '1' });
}
