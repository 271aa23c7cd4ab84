/**
 * Opens an engine for the kit in the same way as the service: from settings, with the service's own engine contexts.
 */
import { mkdirSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { openEngines } from '../engine-host/registry/open-engines.ts';
import { loadSettings } from '../settings/load.ts';
import type { Subject } from './subject.ts';
import { commandLineOf, createFinder, programsWith } from './processes.ts';

const inheritedVariables = /^(PATH|HOME|FFMPEG|(https?|no)_proxy)$/i;

/** `use` has the same form as in the settings. Relative paths are resolved from `baseDir`. */
export function openerOf(use: string, baseDir: string): Subject['open'] {
  return async (options) => {
    const directory = await mkdtemp(join(tmpdir(), 'parlance-kit-'));
    const temporary = useAsTmpdir(join(directory, 'tmp'));
    const remove = async () => {
      temporary.restore();
      await rm(directory, { recursive: true, force: true, maxRetries: 2 });
    };
    try {
      const inherited = Object.entries(process.env).filter(([name]) => inheritedVariables.test(name));
      const env = { ...Object.fromEntries(inherited), DATA_DIR: join(directory, 'data') };
      const settings = { ...loadSettings(env, directory), engines: { subject: { ...options, use } }, baseDir };
      const engines = await openEngines(settings, env, pino({ level: 'silent' }), { guard: false });
      return {
        registry: engines.registry,
        leftovers: async () => [...(await readdir(engines.workspace.path)), ...(await readdir(temporary.path))],
        programs: () => programsWith(`TMPDIR=${temporary.path}`),
        residents: () => engines.residents.processes().map(commandLineOf),
        processes: createFinder(`TMPDIR=${temporary.path}`),
        async [Symbol.asyncDispose]() {
          await engines[Symbol.asyncDispose]();
          await remove();
        },
      };
    } catch (error) {
      await remove();
      throw error;
    }
  };
}

/** Sets TMPDIR to detect files created outside of the context's directories, and to identify child processes. */
function useAsTmpdir(path: string) {
  const { TMPDIR } = process.env;
  mkdirSync(path);
  process.env.TMPDIR = path;
  const restore = () => {
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
  };
  return { path, restore };
}
