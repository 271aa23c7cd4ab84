import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compileCacheEnv } from '../../../lib/compile-cache.ts';

/**
 * Returns the command for a script of this package that loads a library in a separate process. The script is next to
 * the module `url`: `.ts` in the repository, `.js` in the built package.
 */
export function scriptCommand(name: string, url: string, argument: string) {
  const script = fileURLToPath(new URL(`./${name}${extname(url)}`, url));
  return { program: process.execPath, args: [script, argument], env: compileCacheEnv() };
}
