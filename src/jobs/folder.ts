/**
 * The folder of a job. What it has is whole at any moment: files are written beside their place, flushed and renamed. A
 * folder without a record was never accepted.
 */
import { constants } from 'node:fs';
import { lstat, mkdir, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf } from '../../lib/errors.ts';
import { openRegularFile, readRegularFile, replaceFile } from '../../lib/regular-file.ts';
import { parsePart, parseRecord, type JobRecord, type Part } from './record.ts';

const recordName = 'job.json';
/** As the form reader names it. */
const recordingName = 'upload';
const partPattern = /^part-(\d{6})\.json$/;
const nameOfPart = (index: number) => `part-${String(index).padStart(6, '0')}.json`;

export class JobFolder {
  readonly path: string;
  readonly id: string;
  /** Called before a part is written; throws when there is no space. */
  take: (bytes: number) => void;

  constructor(root: string, id: string, take: (bytes: number) => void = () => undefined) {
    this.path = join(root, id);
    this.id = id;
    this.take = take;
  }

  /** Nothing else in the directory of the jobs is ours. */
  get hasJobId(): boolean {
    return /^(?:[\w-]+\.)?[\w-]{22}$/.test(this.id);
  }

  get recording(): string {
    return join(this.path, recordingName);
  }

  async create(): Promise<void> {
    await mkdir(this.path, { mode: 0o700 });
  }

  /** Whether somebody else has removed its record, and with it the job. */
  async isGone(): Promise<boolean> {
    return lstat(join(this.path, recordName)).then(
      () => false,
      (error: unknown) => ['ENOENT', 'ENOTDIR'].includes(errnoOf(error) ?? ''),
    );
  }

  /** Size of the recording; undefined where it is not a regular file. */
  async recordingBytes(): Promise<number | undefined> {
    const found = await lstat(this.recording);
    return found.isFile() ? found.size : undefined;
  }

  /** From now on, the job exists. */
  async accept(record: JobRecord): Promise<void> {
    {
      await using recording = await openRegularFile(this.recording);
      await recording.sync();
    }
    await this.write(record);
    await flushEntries(join(this.path, '..'));
  }

  async write(record: JobRecord): Promise<void> {
    await this.#replace(recordName, JSON.stringify(record));
  }

  /** Undefined if there is none. Throws a `RecordError`. */
  async read(): Promise<JobRecord | undefined> {
    const text = await readRegularFile(join(this.path, recordName)).catch(orAbsent);
    return text === undefined ? undefined : parseRecord(text, this.id);
  }

  async writePart(index: number, part: Part): Promise<void> {
    const text = JSON.stringify(part);
    this.take(Buffer.byteLength(text));
    await this.#replace(nameOfPart(index), text);
  }

  /** Throws a `RecordError`. */
  async readPart(index: number): Promise<Part> {
    return parsePart(await readRegularFile(join(this.path, nameOfPart(index))));
  }

  /** Number of parts; those that follow a gap do not count. */
  async countParts(): Promise<number> {
    const names = await readdir(this.path);
    const numbers = new Set(names.flatMap((name) => partPattern.exec(name)?.slice(1).map(Number) ?? []));
    let count = 0;
    while (numbers.has(count)) count += 1;
    return count;
  }

  async removeRecording(): Promise<void> {
    await rm(this.recording, { force: true });
  }

  /** The record first: without it, the next start removes the rest. */
  async remove(): Promise<void> {
    await rm(join(this.path, recordName), { force: true });
    await rm(this.path, { recursive: true, force: true, maxRetries: 2 });
  }

  /**
   * Removes what a crash has left of an upload or of a removal, in a folder without a record. Returns false if there are
   * files that are not ours: they stay.
   */
  async removeRemains(): Promise<boolean> {
    const isOurs = (name: string) => name === recordingName || name === recordName || partPattern.test(name);
    const { true: ours = [], false: others = [] } = Object.groupBy(await readdir(this.path), (name) =>
      String(isOurs(name.replace(/\.new$/, ''))),
    );
    if (others.length === 0) await this.remove();
    else for (const name of ours) await rm(join(this.path, name), { force: true });
    return others.length === 0;
  }

  /** Size of the recording, and of everything else. */
  async sizes(): Promise<{ readonly recording: number; readonly rest: number }> {
    const sizes = await Promise.all(
      (await readdir(this.path)).map(async (name) => [name, (await lstat(join(this.path, name))).size] as const),
    );
    const recording = sizes.find(([name]) => name === recordingName)?.[1] ?? 0;
    return { recording, rest: sizes.reduce((sum, [, size]) => sum + size, -recording) };
  }

  async #replace(name: string, text: string): Promise<void> {
    await replaceFile(join(this.path, name), text);
    await flushEntries(this.path);
  }
}

async function flushEntries(path: string): Promise<void> {
  await using directory = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  await directory.sync();
}

function orAbsent(error: unknown): undefined {
  if (errnoOf(error) !== 'ENOENT') throw error;
}
