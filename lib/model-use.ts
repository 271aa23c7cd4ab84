/**
 * Files of models in use, across processes: a service marks those of the programs that it keeps loaded, and unloads what
 * another process is about to remove. The marks are empty files beside the model.
 */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { pause } from './abort.ts';
import { errnoOf } from './errors.ts';
import { touchRegularFile } from './regular-file.ts';

const removalOf = (file: string) => `${file}.removing`;

/** Whether some process waits to remove it: nobody begins to use it. */
export const isBeingRemoved = (file: string): boolean => existsSync(removalOf(file));

/** Marks the files as in use by this process until it is disposed of. Where nothing can be written, nothing is marked. */
export function markInUse(files: readonly string[], mark: string): Disposable {
  const marks = files.map((file) => `${file}.in-use-${process.pid}-${mark}`);
  for (const path of marks) {
    try {
      touchRegularFile(path);
    } catch {
      // A read-only directory: nobody can remove the model either.
    }
  }
  return {
    [Symbol.dispose]() {
      for (const path of marks) rmSync(path, { force: true });
    },
  };
}

const pollMs = 100;

/** Calls `remove` once no process uses the files. Rejects with the signal's reason while one does. */
export async function whenUnused(
  files: readonly string[],
  signal: AbortSignal,
  remove: () => Promise<void>,
): Promise<void> {
  try {
    for (const file of files) touchRegularFile(removalOf(file));
    while (files.some(isInUse)) await pause(pollMs, signal);
    await remove();
  } finally {
    for (const file of files) rmSync(removalOf(file), { force: true });
  }
}

function isInUse(file: string): boolean {
  const prefix = `${basename(file)}.in-use-`;
  return readdirSync(dirname(file)).some((name) => {
    if (!name.startsWith(prefix)) return false;
    if (isAlive(Number.parseInt(name.slice(prefix.length), 10))) return true;
    rmSync(join(dirname(file), name), { force: true });
    return false;
  });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errnoOf(error) !== 'ESRCH';
  }
}
