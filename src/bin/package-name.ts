import { isBuiltin } from 'node:module';

const longestName = 64;

/** Valid for npm and for an engine, and a folder here, never a path. npm refuses the names of Node's own modules. */
export function isPackageName(name: string): boolean {
  return name.length <= longestName && /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name) && !isBuiltin(name);
}
