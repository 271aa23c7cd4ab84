import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

/**
 * Finds an executable file of this name in the directories of PATH, and returns its path. An absolute path is returned
 * as is if it is executable. Returns undefined if no such file exists. Relative directories are skipped, because they
 * depend on the working directory.
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

/** Returns why this process cannot run the file at `path`; undefined if it can. */
export function whyNotExecutable(path: string): string | undefined {
  if (isExecutable(path)) return undefined;
  return existsSync(path) ? `${path} is not an executable program` : `there is nothing at ${path}`;
}
