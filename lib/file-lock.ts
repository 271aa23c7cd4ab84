/**
 * Locks between processes, in two modes: shared for users of a file, exclusive for the process that installs, removes
 * or owns it. Each lock is the lock of an open SQLite database: the kernel releases it as soon as the process ends for
 * any reason. Locks also work between containers that share the directory.
 */
import { existsSync, renameSync, truncateSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { pause } from './abort.ts';
import { errnoOf, messageOf } from './errors.ts';
import { makeDirectory } from './make-directory.ts';
import { irregularFilesOf, openDatabase, sqliteCodeOf, sqliteCodes } from './sqlite.ts';

const pollMs = 200;
/** A process that only checks the lock holds it for less than a millisecond. */
const lookMs = 10;

/** Path of the lock of a file or directory, which need not exist. */
export const lockOf = (path: string): string => join(dirname(path), '.locks', basename(path));

/**
 * Resolves with undefined if another process, or another call in this one, holds the lock in a conflicting mode, or
 * waits for the exclusive lock. Rejects if the file system does not support locks or is not writable.
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
 * Waits for an exclusive lock; meanwhile no new shared lock is granted. `onWait` is called once if the lock is held.
 * Rejects with the signal's reason, and as `tryLock` does.
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

/** True if any process, including this one, holds the exclusive lock or waits for it. */
export function isLocked(path: string): boolean {
  try {
    moveAside(path);
    if (!existsSync(path)) return false;
    const database = openDatabase(path, lookMs);
    using _closing = heldBy(database);
    return !runs(database, path, 'BEGIN IMMEDIATE; ROLLBACK');
  } catch {
    return false; // no process can lock it, for example because the file system does not support locks
  }
}

const share = (database: DatabaseSync, path: string) =>
  runs(database, path, 'BEGIN; SELECT count(*) FROM sqlite_master');

/** After this succeeds, no other process can acquire the exclusive lock; shared locks may still be held. */
const intend = (database: DatabaseSync, path: string) =>
  runs(
    database,
    path,
    'PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; PRAGMA user_version = 1',
  );

/** From the first attempt on, no new shared lock is granted. */
const own = (database: DatabaseSync, path: string) => runs(database, path, 'COMMIT');

/** Returns false if a conflicting lock is held. */
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
  moveAside(path);
  const database = openFile(path);
  if (!isForeign(database)) return database;
  database.close();
  truncateSync(path);
  return openFile(path);
}

/** Moves away directories, FIFOs and other things at the path of a lock or of its journal. */
function moveAside(path: string): void {
  for (const name of irregularFilesOf(path)) {
    try {
      renameSync(name, `${name}.${Date.now()}`);
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw error; // another process was faster
    }
  }
}

/**
 * True if another program has written the file. In that case, no process can hold its lock, because SQLite cannot read
 * the file.
 */
function isForeign(database: DatabaseSync): boolean {
  try {
    database.exec('PRAGMA schema_version');
    return false;
  } catch (error) {
    return [sqliteCodes.corrupt, sqliteCodes.notADatabase].some((code) => code === sqliteCodeOf(error));
  }
}

function openFile(path: string): DatabaseSync {
  try {
    return openDatabase(path);
  } catch (error) {
    throw new Error(`${path} cannot be locked: ${messageOf(error)}`, { cause: error });
  }
}
