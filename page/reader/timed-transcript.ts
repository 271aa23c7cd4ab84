/** Transcripts as the reader shows them and the browser keeps them. Times are in milliseconds. Pure. */
import { joinTexts } from '../../lib/join-texts.ts';
import type { TimedText, Transcription } from '../../src/client/index.ts';
import type { Failure } from '../failure.ts';
import { plain } from '../library/stored-turns.ts';

export interface TimedTranscript {
  readonly text: string;
  /** In order of `start_ms`. */
  readonly segments: readonly TimedText[];
  /** In order of `start_ms`; empty if the model reports none. */
  readonly words: readonly TimedText[];
  /** ISO 639-1; null if the model does not report it. */
  readonly language: string | null;
  /** In the order of their first turns; undefined if the speakers were not distinguished. */
  readonly speakers?: readonly Speaker[];
  /** In order of `start_ms`; undefined if the speakers were not distinguished. */
  readonly turns?: readonly SpeakerTurn[];
  readonly durationMs?: number;
  readonly model?: string;
  /** Why the transcript ends before the recording does. */
  readonly failure?: Failure;
}

export type SpeakerTurn = Required<TimedText>;

export interface Speaker {
  /** The label in `speaker` of segments and turns. */
  readonly speaker: string;
  readonly speech_ms: number;
  /** The name that the user has given; undefined for the label. */
  readonly name?: string;
}

/** Maximum number of characters of a name. */
export const longestName = 60;

export const emptyTranscript: TimedTranscript = { text: '', segments: [], words: [], language: null };

/** A model without times has one segment. Turns replace segments without speakers. */
export function toTimedTranscript(result: Transcription): TimedTranscript {
  const { text, language, model, duration_ms: durationMs, segments = [], words = [], turns, speakers } = result;
  const whole = text === '' ? [] : [{ start_ms: 0, end_ms: durationMs ?? 0, text }];
  const parts = segments[0]?.speaker === undefined ? (turns ?? segments) : segments;
  return {
    ...{ text, language, model, words, segments: parts.length > 0 ? parts : whole },
    ...(turns && speakers && { turns, speakers }),
    ...(durationMs !== undefined && { durationMs }),
  };
}

export const searchTextOf = (title: string, { text, speakers = [] }: TimedTranscript): string =>
  plain([title, ...speakers.flatMap(({ name = [] }) => name), text].join('\n'));

export const textOfSegments = (segments: readonly TimedText[]): string => joinTexts(segments.map(({ text }) => text));

export const lengthOf = ({ durationMs, segments }: TimedTranscript): number =>
  durationMs ?? segments.at(-1)?.end_ms ?? 0;

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
