/** The SQLite of Node.js, loaded with the first database: most processes need none. */
import { lstatSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { NotRegularFileError } from './regular-file.ts';

export const sqliteCodes = { error: 1, busy: 5, corrupt: 11, full: 13, notADatabase: 26 } as const;

/** The primary result code of a failure; undefined if the error is not from SQLite. */
export function sqliteCodeOf(error: unknown): number | undefined {
  const isSqlite = error instanceof Error && 'errcode' in error && typeof error.errcode === 'number';
  return isSqlite ? (error.errcode as number) & 0xff : undefined; // extended codes use the higher bytes
}

/**
 * Returns the paths of a database that are not regular files: SQLite follows a symlink, fails for a directory, and
 * waits for the other end of a FIFO, even if only the path of the journal is one.
 */
export function irregularFilesOf(path: string): string[] {
  const names = ['', '-journal', '-wal', '-shm'].map((suffix) => path + suffix);
  return names.filter((name) => lstatSync(name, { throwIfNoEntry: false })?.isFile() === false);
}

/** Throws a `NotRegularFileError`. */
export function requireRegularFiles(path: string): void {
  for (const name of irregularFilesOf(path)) throw new NotRegularFileError(name);
}

/**
 * Opens a database without the warning of Node.js that the module is experimental. Waits up to `timeout` milliseconds
 * for a lock. Throws as `requireRegularFiles` does.
 */
export function openDatabase(path: string, timeout = 0): DatabaseSync {
  requireRegularFiles(path);
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = () => undefined;
  try {
    const sqlite = process.getBuiltinModule('node:sqlite');
    return new sqlite.DatabaseSync(path, { timeout });
  } finally {
    process.emitWarning = emitWarning;
  }
}
