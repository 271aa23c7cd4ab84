/**
 * Global setup: directories for what the files of a run make once, removed after the run: what Node.js compiles (a start
 * takes a third less CPU time), and recordings.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The directory, for the tests. Not NODE_COMPILE_CACHE itself: what they start would inherit that unasked. */
export const compileCacheVariable = 'TEST_COMPILE_CACHE';

/** See once-per-run.ts. */
export const sharedFilesVariable = 'TEST_SHARED_FILES';

export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (process.env[compileCacheVariable] !== undefined) return undefined; // another project of this run has begun
  const directory = await mkdtemp(join(tmpdir(), 'parlance-run-'));
  process.env[compileCacheVariable] = join(directory, 'compiled');
  process.env[sharedFilesVariable] = join(directory, 'files');
  await mkdir(join(directory, 'files'));
  // Workers that have just ended may still write what they compiled.
  return () => rm(directory, { recursive: true, force: true, maxRetries: 10 });
}
