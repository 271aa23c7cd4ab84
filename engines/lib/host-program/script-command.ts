import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compileCacheEnv } from '../../../lib/compile-cache.ts';

/**
 * How to run a script of ours that loads a library, in a process of its own: beside the module `url`, `.ts` in the
 * repository and `.js` in the built package.
 */
export function scriptCommand(name: string, url: string, argument: string) {
  const script = fileURLToPath(new URL(`./${name}${extname(url)}`, url));
  return { program: process.execPath, args: [script, argument], env: compileCacheEnv() };
}
