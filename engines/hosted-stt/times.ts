/** Reads the timestamps of segments, words and speaker turns, which are seconds in the responses of providers. */
import type { Transcript, TranscriptionCall } from '../contract/index.ts';
import { joinTexts } from '../../lib/join-texts.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';
import { placeTimes, type ReportedTimes } from '../lib/place-times.ts';

interface ReportedText extends ReportedTimes {
  readonly text: string;
}

interface ReportedTurn extends ReportedText {
  readonly speaker: string;
}

/** Times as the provider reports them, in milliseconds. */
export interface Times {
  readonly segments?: readonly ReportedText[];
  readonly words?: readonly ReportedText[];
  readonly turns?: readonly ReportedTurn[];
}

export type AskedTimes = Pick<TranscriptionCall, 'timestamps' | 'diarize'>;

/** Longer than any recording. LocalAI has sent nanoseconds. */
const maxSeconds = 86_400;

/** Returns undefined if any requested kind of timestamps is missing or invalid. A few wrong times do not matter. */
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

/** Returns the words within the segments, where the whisper.cpp server puts them. */
function wordsInSegments(segments: unknown): unknown {
  return Array.isArray(segments) && segments.flatMap((segment: unknown) => (isObject(segment) ? segment.words : []));
}

/** Returns undefined if a part is invalid, or if no part has valid times: a transcript with text has timestamps. */
function readAll<T extends ReportedText>(list: unknown, readPart: (part: unknown) => T | undefined): T[] | undefined {
  if (!Array.isArray(list)) return undefined;
  const read = list.map(readPart);
  if (!read.every((part) => part !== undefined)) return undefined;
  const spoken = read.filter(({ text }) => text !== '');
  return spoken.some(({ from, to }) => from !== undefined && to !== undefined) ? spoken : undefined;
}

/** The text of a word is its `word`; LocalAI calls it `text`. */
function readOne(part: unknown): ReportedText | undefined {
  if (!isObject(part)) return undefined;
  const { start, end, word, text = word } = part;
  return typeof text === 'string' ? { from: toMs(start), to: toMs(end), text: toOneLine(text) } : undefined;
}

function readTurn(part: unknown): ReportedTurn | undefined {
  const time = readOne(part);
  const speaker = isObject(part) ? part.speaker : undefined;
  return time && typeof speaker === 'string' && speaker !== '' ? { ...time, speaker: toOneLine(speaker) } : undefined;
}

/** vLLM sends numbers as strings. */
function toMs(seconds: unknown): number | undefined {
  const isText = typeof seconds === 'string' && seconds.trim() !== '';
  const value = typeof seconds === 'number' || isText ? Number(seconds) : NaN;
  return value <= maxSeconds && value >= -maxSeconds ? value * 1000 : undefined;
}

/** Puts the times in order and limits them to the recording. */
export function withinDuration(
  { segments, words, turns }: Times,
  durationMs = Infinity,
): Pick<Transcript, 'segments' | 'words' | 'turns'> {
  return {
    ...(segments && { segments: placeTimes(segments, 0, durationMs) }),
    ...(words && { words: placeTimes(words, 0, durationMs) }),
    ...(turns && { turns: placeTimes(turns, 0, durationMs) }),
  };
}

/** Joins lines, removes NUL characters, and replaces lone surrogates: a transcript is one continuous string. */
export function toOneLine(text: string): string {
  const plain = text.toWellFormed().replaceAll('\0', '');
  return joinTexts(plain.split(/[\r\n\u2028\u2029]+/));
}
