/**
 * Locks between processes, in two modes: shared by those who use something, exclusive for the one who installs, removes or
 * owns it. Each is the lock of a SQLite database that stays open: the kernel releases it however its process ends, at once,
 * also between containers that share the directory.
 */
import { existsSync, lstatSync, renameSync, truncateSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { pause } from './abort.ts';
import { messageOf } from './errors.ts';
import { makeDirectory } from './make-directory.ts';
import { openDatabase, sqliteCodeOf, sqliteCodes } from './sqlite.ts';

const pollMs = 200;
/** Another process that looks holds the lock for less than a millisecond. */
const lookMs = 10;

/** The lock of a file or directory, which need not exist. */
export const lockOf = (path: string): string => join(dirname(path), '.locks', basename(path));

/**
 * Undefined where another process, or another call in this one, holds it in a way that excludes this mode, or waits to.
 * Rejects where the file system has no locks, or where nothing can be written.
 */
export async function tryLock(path: string, mode: 'shared' | 'exclusive'): Promise<Disposable | undefined> {
  const database = await openLock(path);
  try {
    const isMine = mode === 'shared' ? share(database, path) : intend(database, path) && own(database, path);
    if (isMine) return heldBy(database);
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
): Promise<Disposable> {
  signal.throwIfAborted();
  const database = await openLock(path);
  let [isIntended, hasWaited] = [false, false];
  try {
    while (!((isIntended ||= intend(database, path)) && own(database, path))) {
      if (!hasWaited) onWait();
      hasWaited = true;
      await pause(pollMs, signal);
    }
    return heldBy(database);
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Whether somebody has it exclusively, or waits for that. */
export function isLocked(path: string): boolean {
  if (!existsSync(path)) return false;
  const database = openFile(path, lookMs);
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

/** False if another one is in the way. */
function runs(database: DatabaseSync, path: string, sql: string): boolean {
  try {
    database.exec(sql);
    return true;
  } catch (error) {
    if (sqliteCodeOf(error) === sqliteCodes.busy) return false;
    throw new Error(`${path} cannot be locked: ${messageOf(error)}`, { cause: error });
  }
}

const heldBy = (database: DatabaseSync): Disposable => ({ [Symbol.dispose]: () => database.close() });

async function openLock(path: string): Promise<DatabaseSync> {
  await makeDirectory(dirname(path));
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found?.isFile() === false) renameSync(path, `${path}.${Date.now()}`);
  const database = openFile(path);
  if (!isForeign(database)) return database;
  database.close();
  truncateSync(path);
  return openFile(path);
}

/** Whether something else has written the file. Nobody holds its lock then: the contents could not be read. */
function isForeign(database: DatabaseSync): boolean {
  try {
    database.exec('PRAGMA schema_version');
    return false;
  } catch (error) {
    return [sqliteCodes.corrupt, sqliteCodes.notADatabase].some((code) => code === sqliteCodeOf(error));
  }
}

function openFile(path: string, timeout?: number): DatabaseSync {
  try {
    return openDatabase(path, timeout);
  } catch (error) {
    throw new Error(`${path} cannot be locked: ${messageOf(error)}`, { cause: error });
  }
}
