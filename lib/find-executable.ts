import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';

/**
 * The path of the first of `names` that is an executable file in one of PATH's directories. A relative one would find
 * whatever lies in the working directory.
 */
export async function findProgram(names: readonly string[], path: string | undefined): Promise<string | undefined> {
  for (const name of names) {
    for (const directory of (path ?? '').split(delimiter).filter(isAbsolute)) {
      const candidate = join(directory, name);
      if (await isExecutable(candidate)) return candidate;
    }
  }
  return undefined;
}

/** Whether `path` is a file that this process may run. */
export async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
