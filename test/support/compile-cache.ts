/** Global setup: a directory for what Node.js compiles, removed after the run. A start takes a third less CPU time. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The directory, for the tests. Not NODE_COMPILE_CACHE itself: what they start would inherit that unasked. */
export const compileCacheVariable = 'TEST_COMPILE_CACHE';

export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (process.env[compileCacheVariable] !== undefined) return undefined; // another project of this run has begun
  const directory = await mkdtemp(join(tmpdir(), 'parlance-compiled-'));
  process.env[compileCacheVariable] = directory;
  return () => rm(directory, { recursive: true, force: true });
}
