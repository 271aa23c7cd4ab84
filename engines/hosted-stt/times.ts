/** Reads the times of segments and words, which are seconds in the answers of providers. */
import type { TimedText, TimestampKind, Transcript } from '../contract/index.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';

export type Times = Pick<Transcript, 'segments' | 'words'>;

/** Longer than any recording; LocalAI has sent nanoseconds. */
const maxSeconds = 86_400;

/** Undefined if any of the times that were asked for is missing or invalid. */
export function readTimes(answer: JsonObject, timestamps: readonly TimestampKind[]): Times | undefined {
  const segments = timestamps.includes('segment') ? readAll(answer.segments) : [];
  const words = timestamps.includes('word') ? readAll(answer.words ?? wordsInSegments(answer.segments)) : [];
  return segments && words && only(timestamps, { segments, words });
}

/** For silence. */
export function noTimes(timestamps: readonly TimestampKind[]): Times {
  return only(timestamps, { segments: [], words: [] });
}

function only(timestamps: readonly TimestampKind[], { segments, words }: Required<Times>): Times {
  return { ...(timestamps.includes('segment') && { segments }), ...(timestamps.includes('word') && { words }) };
}

/** Where the server of whisper.cpp puts them. */
function wordsInSegments(segments: unknown): unknown {
  return Array.isArray(segments) && segments.flatMap((segment: unknown) => (isObject(segment) ? segment.words : []));
}

/** Undefined for an invalid or empty list: a transcript with text has times. */
function readAll(list: unknown): TimedText[] | undefined {
  if (!Array.isArray(list)) return undefined;
  const read = list.map(readOne);
  if (!read.every((part) => part !== undefined)) return undefined;
  const spoken = read.filter(({ text }) => text !== '');
  return spoken.length === 0 ? undefined : spoken;
}

/** The text of a word is its `word`; LocalAI calls it `text`. */
function readOne(part: unknown): TimedText | undefined {
  if (!isObject(part)) return undefined;
  const { start, end, word, text = word } = part;
  const [startMs, endMs] = [toMs(start), toMs(end)];
  if (startMs === undefined || endMs === undefined || typeof text !== 'string') return undefined;
  return { startMs, endMs, text: toOneLine(text) };
}

/** vLLM sends numbers as strings. */
function toMs(seconds: unknown): number | undefined {
  const isText = typeof seconds === 'string' && seconds.trim() !== '';
  const value = typeof seconds === 'number' || isText ? Number(seconds) : NaN;
  return value <= maxSeconds && value >= -maxSeconds ? Math.round(value * 1000) : undefined;
}

/** In order of their starts, and within the recording. */
export function withinDuration({ segments, words }: Times, durationMs = Infinity): Times {
  return {
    ...(segments && { segments: place(segments, durationMs) }),
    ...(words && { words: place(words, durationMs) }),
  };
}

function place(parts: readonly TimedText[], durationMs: number): TimedText[] {
  let startMs = 0;
  return parts.map((part) => {
    startMs = Math.min(Math.max(part.startMs, startMs), durationMs);
    return { ...part, startMs, endMs: Math.min(Math.max(part.endMs, startMs), durationMs) };
  });
}

/** Joins lines and removes NUL characters: a transcript is one continuous string. */
export function toOneLine(text: string): string {
  const lines = text.replaceAll('\0', '').split(/[\r\n\u2028\u2029]+/);
  return lines
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join(' ');
}
