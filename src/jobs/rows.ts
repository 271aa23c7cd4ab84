/** Checks the rows of an opened database, because its file may be damaged or written by another program. */
import { containers } from '../../engines/contract/index.ts';
import { isArrayOf, isObject, parseObject, type JsonObject } from '../../lib/json.ts';
import { problems } from '../contract/problem-table.ts';
import { problemAnswer, ProblemError } from '../contract/problems.ts';
import { isJobId } from './directory.ts';
import { searchSteps, type JobRecord, type Part } from './record.ts';

/** Returns undefined if the record is invalid or of another job. */
export function readRecord(id: string, text: string): JobRecord | undefined {
  const record = parseObject(text);
  return record?.id === id && isJobId(id) && isRecord(record) ? (record as unknown as JobRecord) : undefined;
}

/** Returns undefined if this cannot be the part that follows `before`, the end of the previous part. */
export function readPart(text: string, before: number, durationMs: number | null): Part | undefined {
  const part = parseObject(text);
  return part && isPart(part) && part.startMs === before && part.endMs <= (durationMs ?? Infinity) ? part : undefined;
}

/** Returns the record for a job that has lost parts. A completed job fails, because it cannot transcribe them again. */
export function failedByDamage(record: JobRecord): JobRecord {
  if (record.status !== 'completed') return record;
  const error = new ProblemError('internal-error', 'A part of the transcript on the disk of the service is damaged.');
  return { ...record, status: 'failed', problem: problemAnswer(error, record.requestId).body };
}

function isRecord(record: JsonObject): boolean {
  const { requestId, caller, key, model, fields, container } = record;
  const { bytes, createdAt, status, durationMs, endedAt, problem } = record;
  const { known = [], searched = 0, spans = [], names = [] } = record;
  return (
    [requestId, caller, model].every(isText) &&
    orNull(isText)(key) &&
    isObject(fields) &&
    Object.values(fields).every(isText) &&
    isOneOf(containers, container) &&
    isOneOf(['queued', 'running', 'completed', 'failed'], status) &&
    (isOneOf(['completed', 'failed'], status) ? isTime(endedAt) : endedAt === null) &&
    (status === 'failed' ? isProblem(problem) : problem === null) &&
    isTime(createdAt) &&
    isCount(bytes, maxBytes) &&
    orNull(isMs)(durationMs) &&
    isCount(searched, searchSteps) &&
    isArrayOf(known, isKnown) &&
    isArrayOf(spans, isSpan) &&
    isArrayOf(names, isNamed)
  );
}

/** The file must be one of the job's folder. */
const isKnown = (value: unknown): value is JsonObject =>
  isObject(value) && isText(value.name) && /^[\w-]+\.decoded\.wav$/.test(String(value.file)) && isMs(value.endMs);
const isNamed = (value: unknown): value is readonly [number, string] =>
  Array.isArray(value) && value.length === 2 && isMs(value[0]) && isText(value[1]);

const isSpan = (value: unknown): value is readonly number[] => isArrayOf(value, isMs) && value.length === 3;

function isPart(part: JsonObject): part is JsonObject & Part {
  const { startMs, endMs, text, language, segments, words } = part;
  const isAfter = isMs(startMs) && isMs(endMs) && startMs < endMs;
  return (
    isAfter &&
    isText(text) &&
    orNull(isText)(language) &&
    [segments, words].every((list) => isArrayOf(list, isTimedText))
  );
}

const isTimedText = (value: unknown): value is JsonObject =>
  isObject(value) &&
  isMs(value.startMs) &&
  isMs(value.endMs) &&
  isText(value.text) &&
  (value.speaker === undefined || isText(value.speaker));

/** As in the contract. */
const isProblem = (value: unknown): boolean =>
  isObject(value) &&
  typeof value.code === 'string' &&
  Object.hasOwn(problems, value.code) &&
  isCount(value.status, 599) &&
  [value.type, value.title, value.detail, value.instance].every(isText);

/** The maximum that the settings allow: 4,096 MB. */
const maxBytes = 4096 * 1_048_576;
/** Dates in the contract have four-digit years, even after adding the time for which a job is kept. */
const lastTime = Date.UTC(9999, 0);

const isText = (value: unknown): value is string => typeof value === 'string';
const isCount = (value: unknown, most: number): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= most;
const isMs = (value: unknown): value is number => isCount(value, Number.MAX_SAFE_INTEGER);
const isTime = (value: unknown): boolean => isCount(value, lastTime);
const isOneOf = (values: readonly string[], value: unknown): boolean => isText(value) && values.includes(value);
const orNull = (is: (value: unknown) => boolean) => (value: unknown) => value === null || is(value);
