/** What the disk keeps of a job: its record, and a file for each part of the recording that is transcribed. */
import type { Container, TimedText } from '../../engines/contract/index.ts';
import { countOf, isObject, parseObject } from '../../lib/json.ts';
import { mediaTypes } from '../audio/sniff.ts';
import type { Schemas } from '../contract/operations.ts';

export const recordVersion = 1;

export type JobStatus = Schemas['TranscriptionJobStatus'];
export type Timestamps = NonNullable<Schemas['TranscriptionJobRequest']['timestamps']>;
export type Task = NonNullable<Schemas['TranscriptionJobRequest']['task']>;

export interface JobRecord {
  readonly version: typeof recordVersion;
  readonly id: string;
  /** Id of the request that created it, for the log and for its problem. */
  readonly requestId: string;
  readonly caller: string;
  /** Name of the API key; null in open mode. */
  readonly key: string | null;
  /** Id of the model. */
  readonly model: string;
  /** As the request names it. */
  readonly language: string | null;
  readonly timestamps: Timestamps;
  /** Absent in records of earlier releases: `transcribe`. */
  readonly task?: Task;
  readonly container: Container;
  /** Size of the recording. */
  readonly bytes: number;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly status: JobStatus;
  /** Null until the recording has been decoded. */
  readonly durationMs: number | null;
  /** Milliseconds since 1970; null before the end. */
  readonly endedAt: number | null;
  readonly problem: Schemas['Problem'] | null;
  /** Sandbox: seconds for each part of a recording that is made up. */
  readonly pace: number | null;
}

/** A part that is transcribed; times are those of the whole recording. */
export interface Part {
  /** In samples. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly language: string | null;
  readonly segments: readonly TimedText[];
  readonly words: readonly TimedText[];
}

export class RecordError extends Error {
  override readonly name = 'RecordError';
}

/** Throws a `RecordError`. */
export function parseRecord(text: string, id: string): JobRecord {
  const record = parseObject(text);
  if (!record) throw new RecordError('the record is not a JSON object');
  const { version } = record;
  if (version !== recordVersion) {
    throw new RecordError(`the record has version ${String(version)}; this service reads ${recordVersion}`);
  }
  const isWhole =
    record.id === id &&
    ['requestId', 'caller', 'model'].every((name) => isText(record[name])) &&
    ['key', 'language'].every((name) => record[name] === null || isText(record[name])) &&
    isTime(record.bytes) &&
    isDate(record.createdAt) &&
    (record.endedAt === null || isDate(record.endedAt)) &&
    ['durationMs', 'pace'].every((name) => record[name] === null || isTime(record[name])) &&
    isOneOf(record.status, ['queued', 'running', 'completed', 'failed']) &&
    isOneOf(record.timestamps, ['none', 'segment', 'word']) &&
    isOneOf(record.task ?? 'transcribe', ['transcribe', 'translate']) &&
    isOneOf(record.container, Object.keys(mediaTypes)) &&
    (record.problem === null || isObject(record.problem));
  if (!isWhole) throw new RecordError('the record lacks a field or has a wrong one');
  return record as unknown as JobRecord;
}

/** Throws a `RecordError`. */
export function parsePart(text: string): Part {
  const part = parseObject(text);
  const isWhole =
    part !== undefined &&
    isTime(part.start) &&
    isTime(part.end) &&
    isText(part.text) &&
    (part.language === null || isText(part.language)) &&
    isTimedTexts(part.segments) &&
    isTimedTexts(part.words);
  if (!isWhole) throw new RecordError('a part of the transcript cannot be read');
  return part as unknown as Part;
}

function isTimedTexts(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.every((item) => isObject(item) && isTime(item.startMs) && isTime(item.endMs) && isText(item.text))
  );
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isTime(value: unknown): boolean {
  return countOf(value) === value;
}

/** Up to the year 9999: the end of what the contract's date-time can say, with TRANSCRIBE_JOB_KEEP added. */
function isDate(value: unknown): boolean {
  return isTime(value) && (value as number) < Date.UTC(9999);
}

function isOneOf(value: unknown, known: readonly string[]): boolean {
  return isText(value) && known.includes(value);
}
