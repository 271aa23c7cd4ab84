import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errnoOf } from '../../lib/errors.ts';
import { makeDirectory } from '../../lib/make-directory.ts';

const unfinished = '.making-';

/** An older draft belongs to a killed process: no process takes that long. */
const abandonedMs = 3_600_000;

/**
 * Makes a directory that appears at `target` when it is complete, and never changes after that. Does nothing if it
 * exists. Several processes may make it concurrently. It is filled next to its target, because a rename does not work
 * across file systems.
 */
export async function makeWholeDirectory(target: string, fill: (path: string) => Promise<void>): Promise<void> {
  if (existsSync(target)) return;
  const parent = dirname(target);
  await makeDirectory(parent);
  await removeAbandoned(parent);
  const path = await mkdtemp(join(parent, unfinished));
  try {
    await fill(path);
    await rename(path, target).catch(ignoreIfExists);
  } finally {
    await rm(path, { recursive: true, force: true });
  }
}

async function removeAbandoned(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    if (!name.startsWith(unfinished)) continue;
    const path = join(parent, name);
    const made = await stat(path).catch(() => undefined); // another process has finished it meanwhile
    if (made && Date.now() - made.mtimeMs > abandonedMs) await rm(path, { recursive: true, force: true });
  }
}

/** Another process was faster. */
function ignoreIfExists(error: unknown): void {
  if (!['ENOTEMPTY', 'EEXIST'].includes(errnoOf(error) ?? '')) throw error;
}
