/** One job: what is known of it now, and what callers see. */
import { raceAbort } from '../../lib/abort.ts';
import { sampleRate } from '../../lib/wav.ts';
import type { Transcript } from '../../engines/contract/index.ts';
import type { Schemas } from '../contract/operations.ts';
import { timestampKindsOf, toTimedText, toTranscription } from '../transcription/wire.ts';
import type { JobFolder } from './folder.ts';
import type { JobRecord, Part } from './record.ts';

export type JobView = Schemas['TranscriptionJob'];

export class Job {
  readonly folder: JobFolder;
  #record: JobRecord;
  #parts: number;
  #doneMs: number;
  #language: string | null;
  /** The part at work; not kept. */
  #reachedMs = 0;
  #ahead = 0;
  #isRemoved = false;
  #change = Promise.withResolvers<undefined>();

  private constructor(
    folder: JobFolder,
    record: JobRecord,
    done: { parts: number; ms: number; language: string | null },
  ) {
    this.folder = folder;
    this.#record = record;
    this.#parts = done.parts;
    this.#doneMs = done.ms;
    this.#language = done.language;
  }

  static create(folder: JobFolder, record: JobRecord): Job {
    return new Job(folder, record, { parts: 0, ms: 0, language: null });
  }

  /** A job of before a restart. Throws a `RecordError`. */
  static async restore(folder: JobFolder, record: JobRecord): Promise<Job> {
    const parts = await folder.countParts();
    let done: { parts: number; ms: number; language: string | null } = { parts, ms: 0, language: null };
    for (let index = 0; index < parts; index += 1) {
      const { end, language } = await folder.readPart(index);
      done = { parts, ms: msOf(end), language: done.language ?? language };
    }
    return new Job(folder, record, done);
  }

  get id(): string {
    return this.#record.id;
  }

  get record(): JobRecord {
    return this.#record;
  }

  /** Number of parts that are transcribed. */
  get parts(): number {
    return this.#parts;
  }

  /** Whole minutes that are transcribed. */
  get doneMinutes(): number {
    return Math.floor(this.#doneMs / 60_000);
  }

  /** The requested language, else the one detected in the first part with speech. */
  get language(): string | null {
    return this.#record.language ?? this.#language;
  }

  get isOver(): boolean {
    return this.#isRemoved || this.#record.status === 'completed' || this.#record.status === 'failed';
  }

  get isRemoved(): boolean {
    return this.#isRemoved;
  }

  /** The record on the disk first. */
  async update(changes: Partial<JobRecord>): Promise<void> {
    const record = { ...this.#record, ...changes };
    await this.folder.write(record);
    this.#record = record;
    this.#tell();
  }

  async addPart(part: Part): Promise<void> {
    await this.folder.writePart(this.#parts, part);
    this.#parts += 1;
    this.#doneMs = msOf(part.end);
    this.#language ??= part.language;
    this.#reachedMs = 0;
    this.#tell();
  }

  /** How far the part at work is, from its start. */
  reached(ms: number): void {
    this.#reachedMs = ms;
  }

  waits(ahead: number): void {
    this.#ahead = ahead;
  }

  removed(): void {
    this.#isRemoved = true;
    this.#tell();
  }

  /** Resolves with the next part, the end or the removal. */
  change(signal: AbortSignal): Promise<undefined> {
    return raceAbort(this.#change.promise, signal);
  }

  /** All parts so far. */
  async read(): Promise<Part[]> {
    return Promise.all(Array.from({ length: this.#parts }, (_, index) => this.folder.readPart(index)));
  }

  async view(keepMs: number): Promise<JobView> {
    const { record } = this;
    const parts = await this.read();
    const { id, status, model, createdAt, endedAt, durationMs, problem } = record;
    return {
      id,
      status,
      model,
      created_at: new Date(createdAt).toISOString(),
      expires_at: endedAt === null ? null : new Date(endedAt + keepMs).toISOString(),
      ahead: this.isOver ? 0 : this.#ahead,
      processed_ms: Math.min(this.#doneMs + Math.round(this.#reachedMs), durationMs ?? Infinity),
      duration_ms: durationMs,
      segments: parts.flatMap(({ segments }) => segments.map(toTimedText)),
      result: status === 'completed' ? resultOf(record, parts) : null,
      problem,
    };
  }

  #tell(): void {
    const { resolve } = this.#change;
    this.#change = Promise.withResolvers();
    resolve(undefined);
  }
}

/** What `POST /transcribe` returns. */
export function resultOf(
  { model, timestamps, durationMs }: JobRecord,
  parts: readonly Part[],
): Schemas['Transcription'] {
  const kinds = timestampKindsOf[timestamps];
  const texts = parts.map(({ text }) => text.trim()).filter((text) => text !== '');
  const transcript: Transcript = {
    text: texts.join(' '),
    language: parts.find(({ language }) => language !== null)?.language ?? null,
    ...(durationMs !== null && { durationMs }),
    ...(kinds.includes('segment') && { segments: parts.flatMap(({ segments }) => segments) }),
    ...(kinds.includes('word') && { words: parts.flatMap(({ words }) => words) }),
  };
  return toTranscription(transcript, model);
}

export function msOf(samples: number): number {
  return Math.round((samples * 1000) / sampleRate);
}
