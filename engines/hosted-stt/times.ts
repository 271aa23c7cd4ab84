/** Reads the timestamps of segments, words and speaker turns, which are seconds in the responses of providers. */
import type { SpeakerTurn, TimedText, Transcript, TranscriptionCall } from '../contract/index.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';

export type Times = Pick<Transcript, 'segments' | 'words' | 'turns'>;
export type AskedTimes = Pick<TranscriptionCall, 'timestamps' | 'diarize'>;

/** Longer than any recording. LocalAI has sent nanoseconds. */
const maxSeconds = 86_400;

/** Returns undefined if any requested timestamp is missing or invalid. */
export function readTimes(answer: JsonObject, asked: AskedTimes): Times | undefined {
  const { timestamps = [], diarize } = asked;
  const segments = timestamps.includes('segment') ? readAll(answer.segments, readOne) : [];
  const words = timestamps.includes('word') ? readAll(answer.words ?? wordsInSegments(answer.segments), readOne) : [];
  const turns = diarize ? readAll(answer.segments, readTurn) : [];
  return segments && words && turns && only(asked, { segments, words, turns });
}

/** The result for silence. */
export function noTimes(asked: AskedTimes): Times {
  return only(asked, { segments: [], words: [], turns: [] });
}

function only({ timestamps = [], diarize }: AskedTimes, { segments, words, turns }: Required<Times>): Times {
  return {
    ...(timestamps.includes('segment') && { segments }),
    ...(timestamps.includes('word') && { words }),
    ...(diarize && { turns }),
  };
}

/** Where the whisper.cpp server puts the words. */
function wordsInSegments(segments: unknown): unknown {
  return Array.isArray(segments) && segments.flatMap((segment: unknown) => (isObject(segment) ? segment.words : []));
}

/** Returns undefined for an invalid or empty list: a transcript with text has timestamps. */
function readAll<T extends TimedText>(list: unknown, readPart: (part: unknown) => T | undefined): T[] | undefined {
  if (!Array.isArray(list)) return undefined;
  const read = list.map(readPart);
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

function readTurn(part: unknown): SpeakerTurn | undefined {
  const time = readOne(part);
  const speaker = isObject(part) ? part.speaker : undefined;
  return time && typeof speaker === 'string' && speaker !== '' ? { ...time, speaker: toOneLine(speaker) } : undefined;
}

/** vLLM sends numbers as strings. */
function toMs(seconds: unknown): number | undefined {
  const isText = typeof seconds === 'string' && seconds.trim() !== '';
  const value = typeof seconds === 'number' || isText ? Number(seconds) : NaN;
  return value <= maxSeconds && value >= -maxSeconds ? Math.round(value * 1000) : undefined;
}

/** Sorts by start, and limits the times to the recording. */
export function withinDuration({ segments, words, turns }: Times, durationMs = Infinity): Times {
  return {
    ...(segments && { segments: place(segments, durationMs) }),
    ...(words && { words: place(words, durationMs) }),
    ...(turns && { turns: place(turns, durationMs) }),
  };
}

function place<T extends TimedText>(parts: readonly T[], durationMs: number): T[] {
  let startMs = 0;
  return parts.map((part) => {
    startMs = Math.min(Math.max(part.startMs, startMs), durationMs);
    return { ...part, startMs, endMs: Math.min(Math.max(part.endMs, startMs), durationMs) };
  });
}

/** Joins lines, removes NUL characters, replaces halves of surrogate pairs: a transcript is one continuous string. */
export function toOneLine(text: string): string {
  const lines = text
    .toWellFormed()
    .replaceAll('\0', '')
    .split(/[\r\n\u2028\u2029]+/);
  return lines
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join(' ');
}
