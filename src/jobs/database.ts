/**
 * The database of the jobs has a row for each job, and one for each transcribed part. A job exists while it has a row.
 * The database stays locked until it is closed or its process ends, so that one service owns the jobs of a DATA_DIR.
 */
import { closeSync, lstatSync, mkdirSync, openSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { Logger } from '../../engines/contract/index.ts';
import { isLocked } from '../../lib/file-lock.ts';
import { parseObject } from '../../lib/json.ts';
import { makeDirectory } from '../../lib/make-directory.ts';
import { NotRegularFileError } from '../../lib/regular-file.ts';
import { openDatabase, requireRegularFiles, sqliteCodeOf, sqliteCodes } from '../../lib/sqlite.ts';
import { databaseNames, makePrivate, recordingsName, setAside } from './directory.ts';
import type { JobRecord, Part } from './record.ts';

const schemaVersion = 1;

const schema = `
  CREATE TABLE jobs (id TEXT PRIMARY KEY, record TEXT NOT NULL) STRICT;
  CREATE TABLE parts (job TEXT NOT NULL REFERENCES jobs ON DELETE CASCADE, part TEXT NOT NULL) STRICT;
  CREATE INDEX parts_of_job ON parts (job);
  PRAGMA user_version = ${schemaVersion};
`;

/** Transcripts are private: nothing of a deleted row stays in the file or in its journal. */
const pragmas = `
  PRAGMA locking_mode = EXCLUSIVE;
  PRAGMA auto_vacuum = FULL;
  PRAGMA secure_delete = ON;
  PRAGMA journal_mode = TRUNCATE;
  PRAGMA synchronous = FULL;
`;

/** Each write returns when its data is on the disk. */
export class JobDatabase {
  /** The jobs from before a restart, in the order of their creation. `bytes` is the size of the parts. */
  readonly jobs: readonly { readonly record: JobRecord; readonly bytes: number }[];
  readonly #database: DatabaseSync;
  readonly #path: string;
  readonly #inode: number;

  constructor(directory: string) {
    this.#path = join(directory, databaseNames[0]);
    requireRegularFiles(this.#path);
    mkdirSync(join(directory, recordingsName), { recursive: true, mode: 0o700 });
    closeSync(openSync(this.#path, 'a', 0o600)); // SQLite would leave the mode to the umask
    this.#database = openDatabase(this.#path);
    try {
      this.#database.exec(`${pragmas} BEGIN EXCLUSIVE`);
      const [{ user_version: version } = {}] = this.#read('PRAGMA user_version');
      if (version === 0) this.#database.exec(schema);
      else if (version !== schemaVersion) throw new UnreadableError(`the database has version ${String(version)}`);
      this.#database.prepare('SELECT record, part FROM jobs JOIN parts ON job = id'); // throws if a table is missing
      const [{ quick_check: fault } = {}] = this.#read('PRAGMA quick_check(1)');
      if (fault !== 'ok') throw new UnreadableError(`the database is corrupt: ${String(fault)}`);
      this.jobs = this.#readJobs();
      this.#database.exec('COMMIT');
      this.#inode = lstatSync(this.#path).ino;
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  /** True if the file was removed or replaced: another service could own the new one. */
  get isLost(): boolean {
    return lstatSync(this.#path, { throwIfNoEntry: false })?.ino !== this.#inode;
  }

  #readJobs(): JobDatabase['jobs'] {
    const bytesOfParts = 'SELECT total(octet_length(part)) FROM parts WHERE job = jobs.id';
    return this.#read(`SELECT id, record, (${bytesOfParts}) AS bytes FROM jobs ORDER BY rowid`).map((row) => {
      const record = parseObject(String(row.record));
      if (record?.id !== row.id) throw new UnreadableError(`the record of ${String(row.id)} is invalid`);
      return { record: record as unknown as JobRecord, bytes: Number(row.bytes) };
    });
  }

  insert(record: JobRecord): void {
    this.#write('INSERT INTO jobs VALUES (?, ?)', record.id, JSON.stringify(record));
  }

  update(record: JobRecord): void {
    this.#write('UPDATE jobs SET record = ? WHERE id = ?', JSON.stringify(record), record.id);
  }

  remove(id: string): void {
    this.#write('DELETE FROM jobs WHERE id = ?', id);
  }

  addPart(id: string, part: string): void {
    this.#write('INSERT INTO parts VALUES (?, ?)', id, part);
  }

  /** The parts in order: at most `limit`, from the index `from`. */
  parts(id: string, { from = 0, limit = -1 } = {}): Part[] {
    const rows = this.#read('SELECT part FROM parts WHERE job = ? ORDER BY rowid LIMIT ? OFFSET ?', id, limit, from);
    return rows.map(({ part }) => JSON.parse(String(part)) as Part);
  }

  close(): void {
    this.#database.close();
  }

  #read(sql: string, ...values: (string | number)[]) {
    return this.#database.prepare(sql).all(...values);
  }

  /** Does not write to a lost database, whose journal has the same name as that of the new one. */
  #write(sql: string, ...values: string[]): void {
    if (this.isLost) throw new Error(`${this.#path} was removed`);
    this.#database.prepare(sql).run(...values);
  }
}

const earlierLock = 'owner.sqlite';
/** Names of the lock and of job folders. */
const ofEarlierReleases = /^(?:owner\.sqlite.*|(?:[\w-]+\.)?[\w-]{22})$/;

class UnreadableError extends Error {}

/** The first code also means that the tables are those of another program. */
const unreadable: readonly unknown[] = [sqliteCodes.error, sqliteCodes.corrupt, sqliteCodes.notADatabase];

/**
 * Opens the database of the jobs, or returns undefined if another service owns it. An unreadable database and its
 * recordings are moved to `set-aside`. Rejects if the directory cannot be used.
 */
export async function openJobDatabase(directory: string, log: Logger): Promise<JobDatabase | undefined> {
  await makeDirectory(dirname(directory));
  await makePrivate(directory);
  if (isLocked(join(directory, earlierLock))) return undefined; // a service of an earlier release is still running
  const earlier = (await readdir(directory)).filter((name) => ofEarlierReleases.test(name));
  if (earlier.length > 0) {
    const keptAs = await setAside(directory, earlier);
    log.warn({ keptAs }, 'transcription jobs of an earlier release are set aside');
  }
  try {
    return new JobDatabase(directory);
  } catch (error) {
    const code = sqliteCodeOf(error);
    if (code === sqliteCodes.busy) return undefined;
    const isUnreadable = error instanceof UnreadableError || error instanceof NotRegularFileError;
    if (!unreadable.includes(code) && !isUnreadable) throw error;
    const keptAs = await setAside(directory, [...databaseNames, recordingsName]);
    log.error({ err: error, keptAs }, 'the database of the transcription jobs cannot be read and is set aside');
    return new JobDatabase(directory);
  }
}
