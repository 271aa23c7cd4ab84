/** Converts transcripts for the API: fields in snake_case, times in whole milliseconds. */
import type { TimedText, Transcript } from '../../engines/contract/index.ts';
import type { Schemas } from '../contract/operations.ts';

export type TranscriptionEvent = Schemas['TranscriptionEvent'];

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
