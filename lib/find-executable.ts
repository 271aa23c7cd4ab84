import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

/**
 * The path of an executable file of this name in one of PATH's directories, or the name itself when it is the absolute
 * path of one. Relative directories are skipped: they would find whatever lies in the working directory.
 */
export function findExecutable(name: string, searchPath = process.env.PATH ?? ''): string | undefined {
  if (isAbsolute(name)) return isExecutable(name) ? name : undefined;
  const directories = searchPath.split(delimiter).filter(isAbsolute);
  return directories.map((directory) => join(directory, name)).find(isExecutable);
}

/** Whether `path` is a file that this process may run. */
export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
