/**
 * DATA_DIR/jobs contains the database, and one folder per job, which holds the recording until the job is over. The
 * folder exists as long as the job does, so that the doctor can count jobs while a service has locked the database.
 */
import { constants } from 'node:fs';
import { access, lstat, mkdir, mkdtemp, open, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type { Logger } from '../../engines/contract/index.ts';
import { errnoOf, ignore, messageOf } from '../../lib/errors.ts';
import { sqliteCodeOf } from '../../lib/sqlite.ts';

/** Includes the files of WAL mode, which SQLite also reads and which another program may have enabled. */
export const databaseNames = ['jobs.sqlite', 'jobs.sqlite-journal', 'jobs.sqlite-wal', 'jobs.sqlite-shm'] as const;
export const recordingsName = 'recordings';
const setAsideName = 'set-aside';

/** An id is the tag of the fleet's front, if any, followed by 128 random bits. */
export const isJobId = (name: string): boolean => /^(?:[\w-]+\.)?[\w-]{22}$/.test(name);

/** Returns the path of a job's folder within the directory; without an id, the parent folder of all jobs. */
export const inRecordings = (id = ''): string => join(recordingsName, id);

/** Returns the path of the recording in a job's folder. The form reader chooses the file name. */
export const recordingIn = (folder: string): string => join(folder, 'upload');

/** Flushes the files of a job and their directories to disk. */
export async function flushFiles(folder: string): Promise<void> {
  const files = (await readdir(folder)).map((name) => join(folder, name));
  for (const path of [...files, folder, dirname(folder), dirname(dirname(folder))]) {
    await using file = await open(path);
    await file.sync();
  }
}

/** Resolves with the ids of the jobs and uploads that have a recording. */
export async function recordedIds(directory: string): Promise<string[]> {
  const isThere = (id: string) => lstat(recordingIn(join(directory, inRecordings(id)))).then(Boolean, () => false);
  const ids = await jobIds(directory);
  const found = await Promise.all(ids.map(isThere));
  return ids.filter((_id, index) => found[index]);
}

/** Resolves with the ids of the job and upload folders. */
export async function jobIds(directory: string): Promise<string[]> {
  return (await readdir(join(directory, recordingsName))).filter(isJobId);
}

/** Creates a folder for unusable files, and resolves with its path. */
export async function openSetAside(directory: string): Promise<string> {
  const parent = join(directory, setAsideName);
  await makePrivate(parent);
  return await mkdtemp(join(parent, `${new Date().toISOString()}-`));
}

/**
 * Moves the existing files to `keptAs`. Files that cannot be moved, such as directories of another user or on another
 * disk, are renamed in place. Returns the names of files that cannot be renamed either. Removes `keptAs` if it is
 * empty.
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
 * Renames files that occupy the path of a jobs directory. Keeps an unreadable directory, because its recordings become
 * usable again once the permissions are fixed.
 */
export async function renameMisplacedFiles(directory: string): Promise<void> {
  for (const name of await misplacedNames(directory)) await renameInPlace(join(directory, name));
}

/** The new name is not a valid job id. */
const renameInPlace = (path: string): Promise<void> => rename(path, `${path}.${Date.now()}`);

/** The directories may be symlinks, for example to another disk. */
async function misplacedNames(directory: string): Promise<string[]> {
  const names = [recordingsName, setAsideName];
  const found = await Promise.all(
    names
      .map((name) => join(directory, name))
      .map((path) => stat(path).catch(() => lstat(path).catch(() => undefined))),
  );
  return names.filter((_name, index) => found[index]?.isDirectory() === false);
}

/** Resolves with the files in the directory that do not belong to the service, which does not touch them. */
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

/** Removes the files in a job's folder. Never rejects. */
export async function emptyFolder(folder: string, log: Logger): Promise<void> {
  for (const name of await readdir(folder).catch(orNothing)) await removeFiles(join(folder, name), log);
}

export interface JobsInspection {
  readonly jobs: number;
  readonly setAside: number;
  /** Disk usage in bytes. */
  readonly bytes: number;
  /** The names that `foreignNames` returns. */
  readonly foreign: readonly string[];
  /** Why the directory cannot be used; undefined if it can. */
  readonly obstacle: string | undefined;
}

/** Inspects the directory for the doctor, even while a service has locked the database. */
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

/** Rejects if this user cannot access the recordings directory. */
export async function requireAccess(directory: string): Promise<void> {
  await access(join(directory, recordingsName), constants.R_OK | constants.W_OK | constants.X_OK);
}

/** Describes the reason for users, without revealing the path of DATA_DIR. */
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
