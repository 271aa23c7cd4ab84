import { isBuiltin } from 'node:module';

const maxNameLength = 64;

/**
 * Names that are valid for npm, as an engine, and as a folder, but not as a path. npm rejects the names of Node.js
 * modules.
 */
export function isPackageName(name: string): boolean {
  return name.length <= maxNameLength && /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name) && !isBuiltin(name);
}
