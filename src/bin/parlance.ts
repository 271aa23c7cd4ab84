#!/usr/bin/env node
/** The `parlance` command. */
import { createRequire } from 'node:module';

const { version, engines } = createRequire(import.meta.url)('@parlance/server/package.json') as {
  readonly version: string;
  readonly engines: { readonly node: string };
};

interface Command {
  readonly about: string;
  /** Imports the module that runs the command. */
  readonly run: () => Promise<unknown>;
}

const commands: Readonly<Record<string, Command>> = {
  start: {
    about: 'start the service (default)',
    run: async () => {
      withOneArena();
      process.env.NODE_ENV ??= 'production'; // in development, responses are also validated against the contract
      await import('./start.ts');
    },
  },
  sandbox: {
    about: 'run a command, such as your tests, with a sandbox: sandbox -- pytest',
    run: () => import('./sandbox.ts'),
  },
  setup: { about: 'install local models and what they need, then exit', run: () => import('./setup.ts') },
  doctor: { about: 'report what was found, what is missing, and how to fix it', run: () => import('./doctor.ts') },
  models: { about: 'local models and voices: models list, models remove NAME', run: () => import('./models.ts') },
  init: { about: 'write an example parlance.config.yaml, with every setting', run: () => import('./init.ts') },
  key: { about: 'API keys of the keys file: key new NAME, list, revoke NAME', run: () => import('./key.ts') },
  'init-engine': {
    about: 'write a package for an engine of your own: init-engine NAME --capability chat',
    run: () => import('./init-engine.ts'),
  },
  'check-engine': {
    about: 'check an engine against the engine contract: check-engine ./my-engine.js',
    run: () => import('./check-engine.ts'),
  },
};

// The remaining arguments belong to the command. If the first argument is an option, the command is `start`.
const [first = '--'] = process.argv.slice(2);
const isOption = first.startsWith('-') && !['--version', '-v', '--help', '-h'].includes(first);
const [name = 'start'] = isOption ? [] : process.argv.splice(2, 1);
const command = Object.hasOwn(commands, name) ? commands[name] : undefined;

if (!isSupported(process.versions.node, engines.node)) {
  console.error(`parlance needs Node.js ${engines.node}; this is ${process.version}.`);
  process.exitCode = 1;
} else if (command) {
  await command.run();
} else if (name === '--version' || name === '-v') {
  console.log(version);
} else if (name === '--help' || name === '-h') {
  console.log(await usage());
} else {
  console.error(`parlance: unknown command "${name}".\n\n${await usage()}`);
  process.exitCode = 2;
}

async function usage(): Promise<string> {
  const { optionsOf, startOptions } = await import('./command-line.ts'); // an older Node.js cannot load this module
  const width = Math.max(...Object.keys(commands).map((name) => name.length));
  return [
    'Usage: npx @parlance/server [command] [options]',
    '',
    ...Object.entries(commands).map(([name, { about }]) => `  ${name.padEnd(width)}  ${about}`),
    '',
    'Options of start; the other commands have a --help of their own:',
    '',
    optionsOf(startOptions),
    '',
    'Settings come from the environment and from parlance.config.yaml in the working directory.',
  ].join('\n');
}

/** Whether the major and minor versions satisfy a range such as `>=22.21 <23 || >=24.9`. */
function isSupported(version: string, needed: string): boolean {
  const numberOf = (text: string) => {
    const [major = 0, minor = 0] = text.match(/\d+/g)?.map(Number) ?? [];
    return major * 1000 + minor;
  };
  const own = numberOf(version);
  const holds = (bound: string) => (bound.startsWith('<') ? own < numberOf(bound) : own >= numberOf(bound));
  return needed.split('||').some((range) => range.trim().split(' ').every(holds));
}

/**
 * The glibc allocator retains freed memory per thread; a single arena for all threads keeps the service small. glibc
 * reads MALLOC_ARENA_MAX once, before any of our code runs, so this process re-executes itself.
 */
function withOneArena(): void {
  const { env, execArgv, execPath, argv, platform } = process;
  if (platform !== 'linux' || env.MALLOC_ARENA_MAX !== undefined) return;
  process.execve?.(execPath, [execPath, ...execArgv, ...argv.slice(1)], { ...env, MALLOC_ARENA_MAX: '1' });
}
