/** A job: its current state and the view that callers receive. */
import { dirname, join } from 'node:path';
import { raceAbort, startTimeout } from '../../lib/abort.ts';
import { joinTexts } from '../../lib/join-texts.ts';
import type { Schemas } from '../contract/operations.ts';
import type { SharedAccount } from '../system/disk-budget.ts';
import { fromApi } from '../transcription/parameters.ts';
import type { KnownVoice } from '../transcription/speakers/find.ts';
import { labeled } from '../transcription/speakers/label.ts';
import {
  turnsOf,
  withRequestedTimes,
  type SpokenText,
  type SpokenTranscript,
} from '../transcription/speakers/spoken.ts';
import { toTimedText, toTranscription } from '../transcription/wire.ts';
import type { JobDatabase } from './database.ts';
import { searchSteps, type JobRecord, type Part } from './record.ts';

export type JobView = Schemas['TranscriptionJob'];

export class Job {
  /** Path of the recording, which exists until the job is over. */
  readonly recording: string;
  /** Number of jobs and calls ahead of this one. */
  ahead = 0;
  /** Progress within the current part, in milliseconds. */
  partMs = 0;
  /**
   * In the sandbox, seconds per part of a fake transcription. If undefined, as after a restart, the recording is
   * actually transcribed.
   */
  pace: number | undefined;
  readonly #database: JobDatabase;
  /** Disk budget account for the stored parts. */
  readonly #account: Pick<SharedAccount, 'take' | 'release'>;
  #record: JobRecord;
  #isRemoved = false;
  #change = Promise.withResolvers<undefined>();

  /** `record` must have a row in the database. */
  constructor(
    record: JobRecord,
    recording: string,
    database: JobDatabase,
    account: Pick<SharedAccount, 'take' | 'release'>,
  ) {
    this.recording = recording;
    this.#database = database;
    this.#account = account;
    this.#record = record;
  }

  get id(): string {
    return this.#record.id;
  }

  get record(): JobRecord {
    return this.#record;
  }

  /** The voices of known speakers. Their recordings exist until the job is over. */
  get known(): readonly KnownVoice[] {
    const { known = [] } = this.#record;
    const pathOf = (file: string) => join(dirname(this.recording), file);
    return known.map(({ name, file, endMs }) => ({ name, sound: { wavPath: pathOf(file), startMs: 0, endMs } }));
  }

  get isOver(): boolean {
    return this.#isRemoved || this.#record.status === 'completed' || this.#record.status === 'failed';
  }

  get isRemoved(): boolean {
    return this.#isRemoved;
  }

  update(changes: Partial<JobRecord>): void {
    const record = { ...this.#record, ...changes };
    this.#database.update(record);
    this.#record = record;
    this.#notify();
  }

  /** Throws `storage-full`. */
  addPart(part: Part): void {
    const text = JSON.stringify(part);
    const bytes = Buffer.byteLength(text);
    this.#account.take(bytes);
    try {
      this.#database.addPart(this.id, text);
    } catch (error) {
      this.#account.release(bytes);
      throw error;
    }
    this.partMs = 0;
    this.#notify();
  }

  /** Returns the parts so far, in order. With `range`, returns at most `limit` parts, starting at index `from`. */
  parts(range?: { readonly from: number; readonly limit: number }): Part[] {
    return this.#database.parts(this.id, range);
  }

  /** Call this after the job's row has been removed. */
  markRemoved(): void {
    this.#isRemoved = true;
    this.#notify();
  }

  /** Resolves at the next change, such as a stored part, the end or the removal. */
  change(signal: AbortSignal): Promise<undefined> {
    return raceAbort(this.#change.promise, signal);
  }

  /** Resolves when the job is over, or after `ms`. */
  async waitForEnd(ms: number, signal: AbortSignal): Promise<void> {
    using timeout = startTimeout(ms, () => new Error('the wait is over'), signal);
    try {
      while (!this.isOver) await this.change(timeout.signal);
    } catch {
      signal.throwIfAborted();
    }
  }

  view(keepMs: number): JobView {
    const { id, status, model, createdAt, endedAt, durationMs, problem } = this.#record;
    const parts = this.parts();
    const whole = status === 'completed' ? spokenOf(this.#record, parts) : undefined;
    const segments = whole?.segments ?? parts.flatMap((part) => part.segments);
    return {
      id,
      status,
      model,
      created_at: new Date(createdAt).toISOString(),
      expires_at: endedAt === null ? null : new Date(endedAt + keepMs).toISOString(),
      ahead: this.isOver ? 0 : this.ahead,
      processed_ms: processedMs(this.#record, doneMs(parts) + this.partMs),
      duration_ms: durationMs,
      segments: segments.map(toTimedText),
      result: whole ? toResult(this.#record, whole) : null,
      problem,
    };
  }

  #notify(): void {
    const { resolve } = this.#change;
    this.#change = Promise.withResolvers();
    resolve(undefined);
  }
}

/** Returns the result in the form of the `POST /transcribe` response. */
export function resultOf(record: JobRecord, parts: readonly Part[]): Schemas['Transcription'] {
  return toResult(record, spokenOf(record, parts));
}

function toResult({ fields, model }: JobRecord, transcript: SpokenTranscript): Schemas['Transcription'] {
  return toTranscription(withRequestedTimes(transcript, fromApi(fields).timestamps), model);
}

/** Returns the whole transcript, with the speakers if the job asks for them. */
function spokenOf(
  { fields, durationMs, spans, names }: JobRecord,
  parts: readonly Part[],
): SpokenTranscript & { readonly segments: readonly SpokenText[] } {
  const { channels } = fromApi(fields);
  const segments = parts.flatMap((part) => part.segments);
  const transcript = {
    text: joinTexts(parts.map(({ text }) => text)),
    language: languageOf(parts),
    ...(durationMs !== null && { durationMs }),
    segments,
    words: parts.flatMap(({ words }) => words),
  };
  if (spans) {
    const found = spans.map(([startMs, endMs, speaker]) => ({ startMs, endMs, speaker }));
    return labeled(transcript, { spans: found, names: new Map(names) });
  }
  return channels ? { ...transcript, turns: turnsOf(segments) } : transcript;
}

/** If the job asks for speakers, half of the progress is the search for them. */
export function processedMs(
  { fields, durationMs, searched = 0 }: JobRecord,
  transcribedMs: number,
  steps = searched,
): number {
  const searchedMs = ((durationMs ?? 0) * steps) / searchSteps;
  const ms = fromApi(fields).diarize ? (searchedMs + transcribedMs) / 2 : transcribedMs;
  return Math.min(Math.round(ms), durationMs ?? Infinity);
}

/** Returns the language of the first part in which one was detected; null if no part has one. */
export function languageOf(parts: readonly Part[]): string | null {
  return parts.find(({ language }) => language !== null)?.language ?? null;
}

/** Returns how many milliseconds of the recording have been transcribed. */
export function doneMs(parts: readonly Part[]): number {
  return parts.at(-1)?.endMs ?? 0;
}
