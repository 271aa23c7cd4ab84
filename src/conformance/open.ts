/** Opens an engine for the kit as the service would: out of settings, in contexts of the service's own making. */
import { mkdirSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { openEngines } from '../engine-host/open-engines.ts';
import { loadSettings } from '../settings/load.ts';
import type { Subject } from './subject.ts';
import { createFinder, programsWith } from './processes.ts';

const passedOn = /^(PATH|HOME|FFMPEG|(https?|no)_proxy)$/i;

/** `use` is as in the settings; a relative path is relative to `baseDir`. */
export function openerOf(use: string, baseDir: string): Subject['open'] {
  return async (options) => {
    const directory = await mkdtemp(join(tmpdir(), 'parlance-kit-'));
    const temporary = takeForSystems(join(directory, 'tmp'));
    const remove = async () => {
      temporary.restore();
      await rm(directory, { recursive: true, force: true, maxRetries: 2 });
    };
    try {
      const passed = Object.entries(process.env).filter(([name]) => passedOn.test(name));
      const env = { ...Object.fromEntries(passed), DATA_DIR: join(directory, 'data') };
      const settings = { ...loadSettings(env, directory), engines: { subject: { ...options, use } }, baseDir };
      const engines = await openEngines(settings, env, pino({ level: 'silent' }), { guard: false });
      return {
        registry: engines.registry,
        leftovers: async () => [...(await readdir(engines.workspace.path)), ...(await readdir(temporary.path))],
        programs: () => programsWith(`TMPDIR=${temporary.path}`),
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

/** An engine that writes where nobody lent it a place writes here; and what it starts is known by this variable. */
function takeForSystems(path: string) {
  const { TMPDIR } = process.env;
  mkdirSync(path);
  process.env.TMPDIR = path;
  const restore = () => {
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
  };
  return { path, restore };
}
