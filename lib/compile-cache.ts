/** The compile cache of this process, for the programs and threads that it starts: compilation is half of their start. */
import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';

/** Environment variables; none where the process itself has no compile cache. */
export function compileCacheEnv(): { readonly NODE_COMPILE_CACHE?: string } {
  const directory = getCompileCacheDir(); // a subdirectory of NODE_COMPILE_CACHE for this version of Node
  return directory === undefined ? {} : { NODE_COMPILE_CACHE: dirname(directory) };
}
