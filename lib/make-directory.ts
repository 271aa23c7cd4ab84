import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { raceAbort, startTimeout } from './abort.ts';
import { errnoOf } from './errors.ts';

/** A network file system whose server is down never answers. */
const limitMs = 5_000;

/**
 * Makes a directory and its parents. Does not use the option `recursive` of `mkdir`: in Node.js 22 and 24, that never
 * returns for a path such as /proc/x, and keeps a core busy.
 */
export async function makeDirectory(path: string): Promise<void> {
  const late = () => new Error(`the file system does not answer within ${limitMs / 1000} s, mkdir '${path}'`);
  using timeout = startTimeout(limitMs, late);
  await raceAbort(make(path), timeout.signal);
}

async function make(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    const code = errnoOf(error);
    if (code === 'ENOENT' && dirname(path) !== path) {
      await make(dirname(path));
      await mkdir(path).catch(orIsThere(path));
    } else await orIsThere(path)(error);
  }
}

/** `mkdir` of an existing directory fails with EEXIST, or with EROFS on a read-only disk. */
const orIsThere = (path: string) => async (error: unknown) => {
  const isDirectory = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isDirectory) throw error;
};
