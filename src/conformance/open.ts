/** Opens an engine for the kit as the service would: out of settings, in contexts of the service's own making. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { openEngines } from '../engines.ts';
import { loadSettings } from '../settings/load.ts';
import type { Subject } from './subject.ts';

/** `use` is as in the settings; a relative path is relative to `baseDir`. */
export function openerOf(use: string, baseDir: string): Subject['open'] {
  return async (options) => {
    const dataDir = await mkdtemp(join(tmpdir(), 'parlance-kit-'));
    const remove = () => rm(dataDir, { recursive: true, force: true });
    try {
      const { PATH, HOME, FFMPEG } = process.env;
      const env = { PATH, HOME, FFMPEG, DATA_DIR: dataDir };
      const settings = { ...loadSettings(env, dataDir), engines: { subject: { ...options, use } }, baseDir };
      const engines = await openEngines(settings, env, pino({ level: 'silent' }));
      return {
        registry: engines.registry,
        leftovers: () => readdir(engines.workspace.path),
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
