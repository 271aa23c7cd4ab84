/**
 * The jobs database has one row per job and one per transcribed part. A job exists while it has a row. The database
 * stays locked until it is closed or its process ends, so that only one service owns the jobs of a DATA_DIR.
 */
import { closeSync, lstatSync, openSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { openDatabase, requireRegularFiles } from '../../lib/sqlite.ts';
import { databaseNames } from './directory.ts';
import type { JobRecord, Part } from './record.ts';
import { failedByDamage, readPart, readRecord } from './rows.ts';

const schemaVersion = 1;

const schema = `
  CREATE TABLE jobs (id TEXT PRIMARY KEY, record TEXT NOT NULL) STRICT;
  CREATE TABLE parts (job TEXT NOT NULL REFERENCES jobs ON DELETE CASCADE, part TEXT NOT NULL) STRICT;
  CREATE INDEX parts_of_job ON parts (job);
  PRAGMA user_version = ${schemaVersion};
`;

const update = 'UPDATE jobs SET record = ? WHERE id = ?';

/** Transcripts are private: no data of a deleted row remains in the file or in its journal. */
const pragmas = `
  PRAGMA locking_mode = EXCLUSIVE;
  PRAGMA auto_vacuum = FULL;
  PRAGMA secure_delete = ON;
  PRAGMA journal_mode = TRUNCATE;
  PRAGMA synchronous = FULL;
`;

/** A job from before a restart. */
interface StoredJob {
  readonly record: JobRecord;
  /** Total size of the parts in bytes. */
  readonly bytes: number;
  /**
   * True if some parts could not be read and were removed. The job transcribes them again, or has failed if it was
   * already over.
   */
  readonly isDamaged: boolean;
}

/** The texts of a job whose record cannot be read. */
export interface UnreadableJob {
  readonly id: string;
  readonly record: string;
  readonly parts: readonly string[];
}

/** Each write returns only after its data is on disk. */
export class JobDatabase {
  /** Jobs in creation order. */
  readonly jobs: readonly StoredJob[];
  readonly unreadable: readonly UnreadableJob[];
  readonly #database: DatabaseSync;
  readonly #path: string;
  readonly #inode: number;

  /**
   * Throws an `UnreadableError` if the database is corrupt, of another version, or (without `mayBeNew`) empty, and a
   * `NotRegularFileError` if its path is not a regular file.
   */
  constructor(directory: string, { mayBeNew }: { readonly mayBeNew: boolean }) {
    this.#path = join(directory, databaseNames[0]);
    requireRegularFiles(this.#path);
    closeSync(openSync(this.#path, 'a', 0o600)); // otherwise, the umask would determine the file mode
    this.#database = openDatabase(this.#path);
    try {
      this.#database.exec(`${pragmas} BEGIN EXCLUSIVE`);
      const [{ user_version: version } = {}] = this.#read('PRAGMA user_version');
      if (version === 0 && !mayBeNew) throw new UnreadableError('the database is empty, but there are recordings');
      if (version === 0) this.#database.exec(schema);
      else if (version !== schemaVersion) throw new UnreadableError(`the database has version ${String(version)}`);
      this.#database.prepare('SELECT record, part FROM jobs JOIN parts ON job = id'); // throws if a table is missing
      const [{ quick_check: fault } = {}] = this.#read('PRAGMA quick_check(1)');
      if (fault !== 'ok') throw new UnreadableError(`the database is corrupt: ${String(fault)}`);
      [this.jobs, this.unreadable] = this.#readJobs();
      this.#database.exec('COMMIT');
      this.#inode = lstatSync(this.#path).ino;
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  /** True if the file was removed or replaced. Another service could own the new file. */
  get isLost(): boolean {
    return lstatSync(this.#path, { throwIfNoEntry: false })?.ino !== this.#inode;
  }

  #readJobs(): readonly [StoredJob[], UnreadableJob[]] {
    const [jobs, unreadable]: [StoredJob[], UnreadableJob[]] = [[], []];
    for (const row of this.#read('SELECT id, record FROM jobs ORDER BY rowid')) {
      const [id, text] = [String(row.id), String(row.record)];
      const record = readRecord(id, text);
      if (record) jobs.push(this.#checkParts(record));
      else unreadable.push({ id, record: text, parts: this.#partTexts(id) });
    }
    return [jobs, unreadable];
  }

  /** Removes the first unreadable part and all parts after it. */
  #checkParts(record: JobRecord): StoredJob {
    const { id, durationMs } = record;
    let [count, bytes, endMs] = [0, 0, 0];
    const texts = this.#partTexts(id);
    for (const text of texts) {
      const part = readPart(text, endMs, durationMs);
      if (!part) break;
      count += 1;
      bytes += Buffer.byteLength(text);
      ({ endMs } = part);
    }
    if (count === texts.length) return { record, bytes, isDamaged: false };
    const after = 'SELECT rowid FROM parts WHERE job = ?1 ORDER BY rowid LIMIT -1 OFFSET ?2';
    this.#database.prepare(`DELETE FROM parts WHERE rowid IN (${after})`).run(id, count);
    const repaired = failedByDamage(record);
    this.#database.prepare(update).run(JSON.stringify(repaired), id);
    return { record: repaired, bytes, isDamaged: true };
  }

  insert(record: JobRecord): void {
    this.#write('INSERT INTO jobs VALUES (?, ?)', record.id, JSON.stringify(record));
  }

  update(record: JobRecord): void {
    this.#write(update, JSON.stringify(record), record.id);
  }

  remove(id: string): void {
    this.#write('DELETE FROM jobs WHERE id = ?', id);
  }

  addPart(id: string, part: string): void {
    this.#write('INSERT INTO parts VALUES (?, ?)', id, part);
  }

  /** Returns the parts in order: at most `limit` parts, starting at index `from`. */
  parts(id: string, { from = 0, limit = -1 } = {}): Part[] {
    return this.#partTexts(id, limit, from).map((text) => JSON.parse(text) as Part);
  }

  #partTexts(id: string, limit = -1, from = 0): string[] {
    const rows = this.#read('SELECT part FROM parts WHERE job = ? ORDER BY rowid LIMIT ? OFFSET ?', id, limit, from);
    return rows.map(({ part }) => String(part));
  }

  close(): void {
    this.#database.close();
  }

  #read(sql: string, ...values: (string | number)[]) {
    return this.#database.prepare(sql).all(...values);
  }

  /** Does not write to a lost database, because its journal has the same name as the journal of the new database. */
  #write(sql: string, ...values: string[]): void {
    if (this.isLost) throw new Error(`${this.#path} was removed`);
    this.#database.prepare(sql).run(...values);
  }
}

/** The database is empty, corrupt or of another version. */
export class UnreadableError extends Error {}
