/** Models that stay loaded: a program for each slot, since it works on one recording at a time. */
import type { EngineContext, Resident } from '../contract/index.ts';
import { findHost } from './program.ts';
import type { Model, UsableFile } from './models.ts';

export interface LoadedModelsOptions {
  readonly slots: number;
  readonly idleUnloadMs: number;
  /** Path of whisper-cli, if it was found. */
  readonly program: () => string | undefined;
}

export type LoadedModels = ReturnType<typeof createLoadedModels>;

/** Limits OpenMP spin-waiting, so that idle threads do not starve other processes. */
export const spinLimit = { GOMP_SPINCOUNT: '10000' };

export function createLoadedModels(
  { slots, idleUnloadMs, program }: LoadedModelsOptions,
  context: Pick<EngineContext, 'resident' | 'dataDir'>,
) {
  /** Empty where the program for it was not built, and where silence is removed: whisper.cpp does that only with its own state. */
  function residentsOf({ id, file, vad, download }: Model, found: UsableFile): readonly Resident[] {
    const host = findHost(program(), context.dataDir);
    if (host === undefined || vad !== undefined) return [];
    const facts = {
      program: host,
      args: [file],
      ...(download !== undefined && { files: [file] }),
      env: spinLimit,
      version: found.stamp,
      memory: needOf(found),
      idleUnloadMs,
    };
    const names = Array.from({ length: slots }, (_, slot) => (slots === 1 ? id : `${id} (${slot + 1})`));
    return names.map((name) => context.resident({ name, ...facts }));
  }

  return {
    /** One that can begin now, best a loaded one; undefined: whisper-cli has to do it. */
    free(model: Model, file: UsableFile): Resident | undefined {
      const free = residentsOf(model, file).filter(({ isFree }) => isFree);
      return free.find(({ state }) => state === 'loaded') ?? free.find(({ state }) => state === 'loading') ?? free[0];
    },
    isLoading(model: Model, file: UsableFile): boolean {
      const states = residentsOf(model, file).map(({ state }) => state);
      return states.includes('loading') && !states.includes('loaded');
    },
  };
}

/** Bytes. whisper.cpp's README has 273 MB for a file of 75, 388 for 142, 852 for 466, 2.1 GB for 1.5, 3.9 GB for 2.9. */
export const needOf = ({ bytes }: UsableFile): number => Math.round(1.25 * bytes) + 200 * 2 ** 20;
