/** Transcripts as the reader shows them and the browser keeps them. Times are in milliseconds. Pure. */
import { joinTexts } from '../../lib/join-texts.ts';
import type { TimedText, Transcription } from '../../src/client/index.ts';
import type { Failure } from '../failure.ts';
import { isRecord, plain } from '../library/stored-turns.ts';

export interface TimedTranscript {
  readonly text: string;
  /** In order of `start_ms`. */
  readonly segments: readonly TimedText[];
  /** In order of `start_ms`; empty if the model reports none. */
  readonly words: readonly TimedText[];
  /** ISO 639-1; null if the model does not report it. */
  readonly language: string | null;
  readonly durationMs?: number;
  readonly model?: string;
  /** Why the transcript ends before the recording does. */
  readonly failure?: Failure;
}

export const emptyTranscript: TimedTranscript = { text: '', segments: [], words: [], language: null };

/** A model without times has one segment. */
export function toTimedTranscript(result: Transcription): TimedTranscript {
  const { text, language, model, duration_ms: durationMs, segments = [], words = [] } = result;
  const whole = text === '' ? [] : [{ start_ms: 0, end_ms: durationMs ?? 0, text }];
  return {
    ...{ text, language, model, words, segments: segments.length > 0 ? segments : whole },
    ...(durationMs !== undefined && { durationMs }),
  };
}

export const searchTextOf = (title: string, { text }: TimedTranscript): string => plain(`${title}\n${text}`);

export const textOfSegments = (segments: readonly TimedText[]): string => joinTexts(segments.map(({ text }) => text));

export const lengthOf = ({ durationMs, segments }: TimedTranscript): number =>
  durationMs ?? segments.at(-1)?.end_ms ?? 0;

/** Index of the last part that begins at or before the time; -1 before the first. */
export function indexAt(all: readonly TimedText[], ms: number): number {
  let [from, to] = [0, all.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((all[middle]?.start_ms ?? 0) <= ms) from = middle + 1;
    else to = middle;
  }
  return from - 1;
}

export interface PlacedWord {
  readonly startMs: number;
  /** Range in the text of its segment, in UTF-16 units. */
  readonly from: number;
  readonly to: number;
}

/** The words of a segment that its text contains. A word belongs to the segment that contains its middle. */
export function wordsOf({ segments, words }: TimedTranscript, index: number): readonly PlacedWord[] {
  const segment = segments[index];
  if (!segment) return [];
  const endMs = segments[index + 1]?.start_ms ?? Infinity;
  const placed: PlacedWord[] = [];
  let at = 0;
  for (let i = Math.max(0, indexAt(words, segment.start_ms) - 1); i < words.length; i += 1) {
    const { start_ms: startMs = Infinity, end_ms: wordEndMs = 0, text = '' } = words[i] ?? {};
    if (startMs >= endMs) break;
    const middle = (startMs + wordEndMs) / 2;
    const word = text.trim();
    const from = segment.text.indexOf(word, at);
    if (middle < segment.start_ms || middle >= endMs || word === '' || from < 0) continue;
    at = from + word.length;
    placed.push({ startMs, from, to: at });
  }
  return placed;
}

export interface Match {
  readonly segment: number;
  readonly from: number;
  readonly to: number;
}

/** Returns the places where the text occurs, ignoring case. */
export function matchesOf(segments: readonly TimedText[], query: string): readonly Match[] {
  const wanted = query
    .trim()
    .replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)
    .replace(/\s+/g, String.raw`\s+`);
  if (wanted === '') return [];
  const pattern = new RegExp(wanted, 'giu');
  return segments.flatMap(({ text }, segment) =>
    Array.from(text.matchAll(pattern), ({ index, 0: found }) => ({ segment, from: index, to: index + found.length })),
  );
}

/** Formats a time as `1:02:03`, or `2:03` within the first hour. */
export function clock(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  const pad = (value: number) => String(value).padStart(2, '0');
  return hours > 0 ? `${hours}:${pad(minutes)}:${pad(seconds % 60)}` : `${minutes}:${pad(seconds % 60)}`;
}

/** Formats an approximate time, for people who wait. */
export function timeText(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  if (minutes < 1) return 'less than a minute';
  if (minutes < 60) return minutes === 1 ? '1 minute' : `${minutes} minutes`;
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
  return [hours === 1 ? '1 hour' : `${hours} hours`, rest > 0 && `${rest} min`].filter(Boolean).join(' ');
}

/**
 * Returns the first segments, in at most `limit` characters. `untilMs`: the end of these segments, unless all of them
 * fit.
 */
export function shortened(
  { segments, text }: TimedTranscript,
  limit: number,
): { readonly text: string; readonly untilMs?: number } {
  if (text.length <= limit) return { text };
  let [length, count] = [0, 0];
  for (const segment of segments) {
    length += segment.text.length + 1;
    if (length > limit) break;
    count += 1;
  }
  const first = segments.slice(0, count);
  if (first.length === 0) return { text: text.slice(0, limit), untilMs: segments[0]?.start_ms ?? 0 };
  return { text: textOfSegments(first), untilMs: first.at(-1)?.end_ms ?? 0 };
}

const isTime = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;

const isTimedText = (value: unknown): value is TimedText =>
  isRecord(value) && typeof value.text === 'string' && isTime(value.start_ms) && isTime(value.end_ms);

const isTimedTexts = (value: unknown): value is readonly TimedText[] =>
  Array.isArray(value) && value.every(isTimedText) && value.every(isInOrder);

const isInOrder = ({ start_ms: ms }: TimedText, index: number, all: readonly TimedText[]) =>
  ms >= (all[index - 1]?.start_ms ?? 0);

/** Reads a transcript from a file that anyone may have written. */
export function readTranscript(value: unknown): TimedTranscript | undefined {
  if (!isRecord(value)) return undefined;
  const { text, segments, words, language, durationMs, model } = value;
  if (typeof text !== 'string' || !isTimedTexts(segments) || !isTimedTexts(words)) return undefined;
  return {
    ...{ text, segments, words, language: typeof language === 'string' ? language : null },
    ...(isTime(durationMs) && { durationMs: durationMs as number }),
    ...(typeof model === 'string' && { model }),
  };
}
