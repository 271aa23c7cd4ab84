/** The SQLite of Node.js, loaded with the first database: most processes need none. */
import type { DatabaseSync } from 'node:sqlite';

export const sqliteCodes = { error: 1, busy: 5, corrupt: 11, full: 13, notADatabase: 26 } as const;

/** The primary result code of a failure; undefined if the error is not from SQLite. */
export function sqliteCodeOf(error: unknown): number | undefined {
  const isSqlite = error instanceof Error && 'errcode' in error && typeof error.errcode === 'number';
  return isSqlite ? (error.errcode as number) & 0xff : undefined; // extended codes use the higher bytes
}

/** Without the warning of Node.js that the module is experimental. Waits up to `timeout` milliseconds for a lock. */
export function openDatabase(path: string, timeout = 0): DatabaseSync {
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = () => undefined;
  try {
    const sqlite = process.getBuiltinModule('node:sqlite');
    return new sqlite.DatabaseSync(path, { timeout });
  } finally {
    process.emitWarning = emitWarning;
  }
}
