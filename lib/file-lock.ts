/**
 * Locks between processes, in two modes: shared by those who use something, exclusive for the one who installs, removes or
 * owns it. Each is the lock of a SQLite database that stays open: the kernel releases it however its process ends, at once,
 * also between containers that share the directory.
 */
import { existsSync, lstatSync, renameSync, truncateSync } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { pause } from './abort.ts';
import { messageOf } from './errors.ts';
import { makeDirectory } from './make-directory.ts';

export interface FileLock extends Disposable {
  /** Whether its file was removed or replaced: another process could lock the new one. */
  isLost(): Promise<boolean>;
}

const pollMs = 200;
/** Another process that looks holds the lock for less than a millisecond. */
const lookMs = 10;

/** The lock of a file or directory, which need not exist. */
export const lockOf = (path: string): string => join(dirname(path), '.locks', basename(path));

/**
 * Undefined where another process, or another call in this one, holds it in a way that excludes this mode, or waits to.
 * Rejects where the file system has no locks, or where nothing can be written.
 */
export async function tryLock(path: string, mode: 'shared' | 'exclusive'): Promise<FileLock | undefined> {
  const database = await openLock(path);
  try {
    const isMine = mode === 'shared' ? share(database, path) : intend(database, path) && own(database, path);
    if (isMine) return heldBy(database, path);
  } catch (error) {
    database.close();
    throw error;
  }
  database.close();
  return undefined;
}

/**
 * Waits for an exclusive lock; meanwhile nobody new gets a shared one. `onWait` is called once if it is held. Rejects with
 * the signal's reason, and as `tryLock`.
 */
export async function acquireLock(
  path: string,
  { signal, onWait = () => {} }: { readonly signal: AbortSignal; readonly onWait?: (() => void) | undefined },
): Promise<FileLock> {
  signal.throwIfAborted();
  const database = await openLock(path);
  let [isIntended, hasWaited] = [false, false];
  try {
    while (!((isIntended ||= intend(database, path)) && own(database, path))) {
      if (!hasWaited) onWait();
      hasWaited = true;
      await pause(pollMs, signal);
    }
    return heldBy(database, path);
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Whether somebody has it exclusively, or waits for that. */
export function isLocked(path: string): boolean {
  if (!existsSync(path)) return false;
  const database = openDatabase(path, lookMs);
  try {
    return !runs(database, path, 'BEGIN IMMEDIATE; ROLLBACK');
  } catch {
    return false; // it cannot be locked at all
  } finally {
    database.close();
  }
}

const share = (database: DatabaseSync, path: string) =>
  runs(database, path, 'BEGIN; SELECT count(*) FROM sqlite_master');

/** No other process can intend the same; those who share it do so still. */
const intend = (database: DatabaseSync, path: string) =>
  runs(
    database,
    path,
    'PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; PRAGMA user_version = 1',
  );

/** From the first attempt on, nobody new can share it. */
const own = (database: DatabaseSync, path: string) => runs(database, path, 'COMMIT');

const codes = { busy: 5, corrupt: 11, notADatabase: 26 };

/** False if another one is in the way. */
function runs(database: DatabaseSync, path: string, sql: string): boolean {
  try {
    database.exec(sql);
    return true;
  } catch (error) {
    if (primaryCodeOf(error) === codes.busy) return false;
    throw new Error(`${path} cannot be locked: ${messageOf(error)}`, { cause: error });
  }
}

/** Extended codes have more in their higher bytes. */
const primaryCodeOf = (error: unknown) => ((error as { errcode?: number }).errcode ?? 0) & 0xff;

function heldBy(database: DatabaseSync, path: string): FileLock {
  const { ino } = lstatSync(path);
  const isLost = () =>
    lstat(path).then(
      (found) => found.ino !== ino,
      () => true,
    );
  return { isLost, [Symbol.dispose]: () => database.close() };
}

async function openLock(path: string): Promise<DatabaseSync> {
  await makeDirectory(dirname(path));
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found?.isFile() === false) renameSync(path, `${path}.${Date.now()}`);
  const database = openDatabase(path);
  if (!isForeign(database)) return database;
  database.close();
  truncateSync(path);
  return openDatabase(path);
}

/** Whether something else has written the file. Nobody holds its lock then: the contents could not be read. */
function isForeign(database: DatabaseSync): boolean {
  try {
    database.exec('PRAGMA schema_version');
    return false;
  } catch (error) {
    return ([codes.corrupt, codes.notADatabase] as number[]).includes(primaryCodeOf(error));
  }
}

/** Node.js warns that the module is experimental; only a lock of it is used. */
function openDatabase(path: string, timeout = 0): DatabaseSync {
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = () => undefined;
  try {
    const sqlite = process.getBuiltinModule('node:sqlite');
    return new sqlite.DatabaseSync(path, { timeout });
  } catch (error) {
    throw new Error(`${path} cannot be locked: ${messageOf(error)}`, { cause: error });
  } finally {
    process.emitWarning = emitWarning;
  }
}
