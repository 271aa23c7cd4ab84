/**
 * DATA_DIR/jobs contains the database, and a folder for each job, with its recording until the job is over. The folder
 * exists as long as the job, so that the doctor can count jobs while a service has locked the database.
 */
import { lstat, mkdir, open, readdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errnoOf } from '../../lib/errors.ts';

export const databaseNames = ['jobs.sqlite', 'jobs.sqlite-journal', 'jobs.sqlite-wal', 'jobs.sqlite-shm'] as const;
export const recordingsName = 'recordings';
const setAsideName = 'set-aside';

/** Path of the recording in the folder of a job, as the form reader names it. */
export const recordingIn = (folder: string): string => join(folder, 'upload');

/** Flushes the recording and its directories to the disk. */
export async function flushRecording(folder: string): Promise<void> {
  for (const path of [recordingIn(folder), folder, dirname(folder), dirname(dirname(folder))]) {
    await using file = await open(path);
    await file.sync();
  }
}

/** Moves the files that exist into a new folder, and returns its path. */
export async function setAside(directory: string, names: readonly string[]): Promise<string> {
  const keptAs = join(directory, setAsideName, new Date().toISOString());
  for (const path of [dirname(keptAs), keptAs]) await makePrivate(path);
  for (const name of names) await rename(join(directory, name), join(keptAs, name)).catch(unless('ENOENT'));
  return keptAs;
}

export async function makePrivate(path: string): Promise<void> {
  await mkdir(path, { mode: 0o700 }).catch(unless('EEXIST'));
}

/** Measures the disk usage of the jobs, for the doctor. */
export async function measureJobs(directory: string): Promise<{ jobs: number; setAside: number; bytes: number }> {
  const list = (name: string, recursive = false) => readdir(join(directory, name), { recursive }).catch(() => []);
  const [jobs, kept, all] = await Promise.all([list(recordingsName), list(setAsideName), list('.', true)]);
  const found = await Promise.all(all.map((path) => lstat(join(directory, path)).catch(() => undefined)));
  const bytes = found.reduce((sum, stats) => sum + (stats?.isFile() ? stats.size : 0), 0);
  return { jobs: jobs.length, setAside: kept.length, bytes };
}

const unless = (code: string) => (error: unknown) => {
  if (errnoOf(error) !== code) throw error;
};
