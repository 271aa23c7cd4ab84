/**
 * One service works on the jobs of a DATA_DIR. The lock is that of a SQLite database that stays open: the kernel releases
 * it however the process ends, at once, also between containers that share the directory.
 */
import { lstatSync, renameSync, truncateSync } from 'node:fs';
import { lstat } from 'node:fs/promises';
import type { DatabaseSync } from 'node:sqlite';
import type { Logger } from '../../engines/contract/index.ts';

export interface OwnerLock extends Disposable {
  /** Whether its file was removed or replaced: another service could lock the new one. */
  isLost(): Promise<boolean>;
}

const locked = 5; // SQLITE_BUSY

/** Undefined if another service has it. Throws if the file system has no locks, or does not let us write. */
export function takeLock(path: string, log: Pick<Logger, 'warn'>): OwnerLock | undefined {
  repair(path, log);
  const database = openDatabase(path);
  try {
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if ((error as { errcode?: number }).errcode === locked) return undefined;
    throw error;
  }
  const { ino } = lstatSync(path);
  const isLost = () =>
    lstat(path).then(
      (found) => found.ino !== ino,
      () => true,
    );
  return { isLost, [Symbol.dispose]: () => database.close() };
}

/**
 * The database is never written: whatever the file contains came from elsewhere, and SQLite would refuse it at every
 * start. It is emptied in place, because another service may hold the lock of this very file.
 */
function repair(path: string, log: Pick<Logger, 'warn'>): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found || (found.isFile() && found.size === 0)) return;
  log.warn({ path }, 'the lock file of the transcription jobs is not an empty file and is replaced');
  if (found.isFile()) truncateSync(path);
  else renameSync(path, `${path}.${Date.now()}`);
}

/** Node.js 22 warns that the module is experimental; only a lock of it is used. */
function openDatabase(path: string): DatabaseSync {
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = () => undefined;
  try {
    const sqlite = process.getBuiltinModule('node:sqlite');
    return new sqlite.DatabaseSync(path, { timeout: 0 });
  } finally {
    process.emitWarning = emitWarning;
  }
}
