/**
 * DATA_DIR/jobs contains the database, and a folder for each job, with its recording until the job is over. The folder
 * exists as long as the job, so that the doctor can count jobs while a service has locked the database.
 */
import { constants } from 'node:fs';
import { access, lstat, mkdir, mkdtemp, open, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type { Logger } from '../../engines/contract/index.ts';
import { errnoOf, ignore, messageOf } from '../../lib/errors.ts';
import { sqliteCodeOf } from '../../lib/sqlite.ts';

/** SQLite also reads the log of another journal mode, which another program may have set. */
export const databaseNames = ['jobs.sqlite', 'jobs.sqlite-journal', 'jobs.sqlite-wal', 'jobs.sqlite-shm'] as const;
export const recordingsName = 'recordings';
const setAsideName = 'set-aside';

/** The tag of the fleet's front, if any, and 128 random bits. */
export const isJobId = (name: string): boolean => /^(?:[\w-]+\.)?[\w-]{22}$/.test(name);

/** Path of the folder of a job within the directory; without an id, that of all. */
export const inRecordings = (id = ''): string => join(recordingsName, id);

/** Path of the recording in the folder of a job, as the form reader names it. */
export const recordingIn = (folder: string): string => join(folder, 'upload');

/** Flushes the recording and its directories to the disk. */
export async function flushRecording(folder: string): Promise<void> {
  for (const path of [recordingIn(folder), folder, dirname(folder), dirname(dirname(folder))]) {
    await using file = await open(path);
    await file.sync();
  }
}

/** Ids of the jobs and uploads that have a recording. */
export async function recordedIds(directory: string): Promise<string[]> {
  const isThere = (id: string) => lstat(recordingIn(join(directory, inRecordings(id)))).then(Boolean, () => false);
  const ids = await jobIds(directory);
  const found = await Promise.all(ids.map(isThere));
  return ids.filter((_id, index) => found[index]);
}

/** Ids of the folders of jobs and uploads. */
export async function jobIds(directory: string): Promise<string[]> {
  return (await readdir(join(directory, recordingsName))).filter(isJobId);
}

/** Makes a folder for what cannot be used, and returns its path. */
export async function openSetAside(directory: string): Promise<string> {
  const parent = join(directory, setAsideName);
  await makePrivate(parent);
  return await mkdtemp(join(parent, `${new Date().toISOString()}-`));
}

/**
 * Moves the files that exist. What cannot be moved, such as a directory of another user or one on another disk, is
 * renamed. Returns the names of those that cannot be renamed either. Removes the folder if it is empty.
 */
export async function setAside(directory: string, names: readonly string[], keptAs: string): Promise<string[]> {
  const left: string[] = [];
  for (const name of names) {
    const [path, target] = [join(directory, name), join(keptAs, name)];
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    await rename(path, target)
      .catch(unless('ENOENT'))
      .catch(() => renameInPlace(path))
      .catch(() => left.push(name));
  }
  for (const path of [join(keptAs, recordingsName), keptAs]) await rmdir(path).catch(unless('ENOENT', 'ENOTEMPTY'));
  return left;
}

export async function makePrivate(path: string): Promise<void> {
  await mkdir(path, { mode: 0o700 }).catch(unless('EEXIST'));
}

/**
 * Renames files that occupy the path of a jobs directory. An unreadable directory is kept: its recordings become usable
 * again once the permissions are fixed.
 */
export async function renameMisplacedFiles(directory: string): Promise<void> {
  for (const name of await misplacedNames(directory)) await renameInPlace(join(directory, name));
}

/** The new name is not that of a job. */
const renameInPlace = (path: string): Promise<void> => rename(path, `${path}.${Date.now()}`);

/** The directories may be symlinks, to another disk. */
async function misplacedNames(directory: string): Promise<string[]> {
  const names = [recordingsName, setAsideName];
  const found = await Promise.all(
    names
      .map((name) => join(directory, name))
      .map((path) => stat(path).catch(() => lstat(path).catch(() => undefined))),
  );
  return names.filter((_name, index) => found[index]?.isDirectory() === false);
}

/** The files below the directory that are not of the service: it leaves them alone. */
export async function foreignNames(directory: string): Promise<string[]> {
  const list = (name: string) => readdir(join(directory, name)).catch(orNothing);
  const own: readonly string[] = [...databaseNames, recordingsName, setAsideName];
  const beside = (await list('.')).filter((name) => !own.includes(name));
  const misplaced = await misplacedNames(directory);
  const within = (await list(recordingsName)).filter((name) => !isJobId(name));
  return [...beside, ...misplaced, ...within.map(inRecordings)];
}

/** Never rejects. */
export async function removeFiles(path: string, log: Logger): Promise<void> {
  await rm(path, { recursive: true, force: true, maxRetries: 2 }).catch((error: unknown) => {
    log.error({ err: error, path }, 'the files of a job could not be removed');
  });
}

export interface JobsInspection {
  readonly jobs: number;
  readonly setAside: number;
  /** Disk usage. */
  readonly bytes: number;
  /** As `foreignNames` returns them. */
  readonly foreign: readonly string[];
  /** Why the directory cannot be used. */
  readonly obstacle: string | undefined;
}

/** For the doctor, while a service may have locked the database. */
export async function inspectJobs(directory: string): Promise<JobsInspection> {
  const list = (name: string, recursive = false) => readdir(join(directory, name), { recursive }).catch(orNothing);
  const [jobs, kept, all, foreign, error] = await Promise.all([
    ...([jobIds(directory).catch(orNothing), list(setAsideName), list('.', true), foreignNames(directory)] as const),
    requireAccess(directory).then(ignore, (reason: unknown) => reason),
  ]);
  const found = await Promise.all(all.map((path) => lstat(join(directory, path)).catch(() => undefined)));
  const bytes = found.reduce((sum, stats) => sum + (stats?.isFile() ? stats.size : 0), 0);
  const obstacle = error === undefined || errnoOf(error) === 'ENOENT' ? undefined : obstacleOf(error, directory);
  return { jobs: jobs.length, setAside: kept.length, bytes, foreign, obstacle };
}

/** Rejects if this user cannot use the directory of the recordings. */
export async function requireAccess(directory: string): Promise<void> {
  await access(join(directory, recordingsName), constants.R_OK | constants.W_OK | constants.X_OK);
}

/** Names the reason for users, without the path of DATA_DIR. */
export function obstacleOf(error: unknown, directory: string): string {
  const code = sqliteCodeOf(error) === undefined ? errnoOf(error) : undefined;
  const path = error instanceof Error && 'path' in error ? relative(directory, String(error.path)) : '';
  const place = path === '' || path.startsWith('..') ? '' : ` (${path})`;
  return code === undefined ? messageOf(error) : `${code}${place}`;
}

const orNothing = (): string[] => [];

const unless =
  (...codes: readonly string[]) =>
  (error: unknown) => {
    if (!codes.includes(errnoOf(error) ?? '')) throw error;
  };
