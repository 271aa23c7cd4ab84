/** Converts transcripts for the API: fields in snake_case, times in whole milliseconds. */
import type { TimedText, TimestampKind, Transcript } from '../../engines/contract/index.ts';
import type { Schemas } from '../contract/operations.ts';
import type { TranscriptionFeatures } from './run.ts';

export type TranscriptionEvent = Schemas['TranscriptionEvent'];
type Timestamps = NonNullable<Schemas['TranscriptionRequest']['timestamps']>;

/** Timestamps to request from the engine; words include segments. */
export const timestampKindsOf: Readonly<Record<Timestamps, readonly TimestampKind[]>> = {
  none: [],
  segment: ['segment'],
  word: ['segment', 'word'],
};

export function isTimestamps(value: unknown): value is Timestamps {
  return typeof value === 'string' && Object.hasOwn(timestampKindsOf, value);
}

type Requested = Pick<Schemas['TranscriptionRequest'], 'timestamps' | 'task' | 'keywords'>;

/** The model features that a request needs. */
export function requestedFeatures({
  timestamps = 'none',
  task,
  keywords = '',
}: Requested): Required<TranscriptionFeatures> {
  return {
    timestamps: timestampKindsOf[timestamps],
    translate: task === 'translate' ? true : undefined,
    keywords: keywords.split(',').flatMap((word) => word.replaceAll(/\s+/g, ' ').trim() || []),
  };
}

/** `model` is the id that requests use. */
export function toTranscription(
  { text, language, durationMs, segments, words }: Transcript,
  model: string,
): Schemas['Transcription'] {
  return {
    text,
    language,
    ...(durationMs !== undefined && { duration_ms: Math.round(durationMs) }),
    model,
    ...(segments && { segments: segments.map(toTimedText) }),
    ...(words && { words: words.map(toTimedText) }),
  };
}

export function toTimedText({ startMs, endMs, text }: TimedText): Schemas['TimedText'] {
  return { start_ms: startMs, end_ms: endMs, text };
}
