/** Files that several test files need, made by the first of them. */
import { createHash, randomUUID } from 'node:crypto';
import { constants, copyFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { sharedFilesVariable } from './run-directories.ts';

/** `make` writes the file at `path`, where none may be yet; the name says all that its content depends on. */
export async function makeOncePerRun(name: string, path: string, make: () => Promise<void>): Promise<void> {
  const directory = process.env[sharedFilesVariable];
  if (directory === undefined) return make();
  const shared = join(directory, createHash('sha256').update(name).digest('hex'));
  try {
    return await copyFile(shared, path, constants.COPYFILE_EXCL);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  await make();
  const partial = `${shared}.${randomUUID()}`; // other processes read only whole files
  await copyFile(path, partial);
  await rename(partial, shared);
}
