/** The compile cache of this process, for child processes and threads: compilation is half of their startup time. */
import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';

/** Returns environment variables; none if this process has no compile cache. */
export function compileCacheEnv(): { readonly NODE_COMPILE_CACHE?: string } {
  const directory = getCompileCacheDir(); // a subdirectory of NODE_COMPILE_CACHE for this version of Node
  return directory === undefined ? {} : { NODE_COMPILE_CACHE: dirname(directory) };
}
