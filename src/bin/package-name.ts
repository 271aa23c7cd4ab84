import { isBuiltin } from 'node:module';

const maxNameLength = 64;

/**
 * Whether the name is valid for an npm package, an engine and a folder, and cannot be mistaken for a path. npm rejects
 * the names of Node.js modules.
 */
export function isPackageName(name: string): boolean {
  return name.length <= maxNameLength && /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name) && !isBuiltin(name);
}
