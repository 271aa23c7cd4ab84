/**
 * One service works on the jobs of a DATA_DIR. The lock is that of a SQLite database that stays open: the kernel releases
 * it however the process ends, at once, also between containers that share the directory.
 */
import type { DatabaseSync } from 'node:sqlite';

export interface OwnerLock extends Disposable {
  readonly path: string;
}

const locked = 5; // SQLITE_BUSY

/** Undefined if another service has it. Throws if the file system has no locks, or does not let us write. */
export function takeLock(path: string): OwnerLock | undefined {
  const database = openDatabase(path);
  try {
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if ((error as { errcode?: number }).errcode === locked) return undefined;
    throw error;
  }
  return { path, [Symbol.dispose]: () => database.close() };
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
