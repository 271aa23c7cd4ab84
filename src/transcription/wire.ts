/** Converts transcripts for the API: fields in snake_case, times in whole milliseconds. */
import type { SpeakerTurn } from '../../engines/contract/index.ts';
import type { Schemas } from '../contract/operations.ts';
import type { SpokenText, SpokenTranscript } from './speakers/spoken.ts';

export type TranscriptionEvent = Schemas['TranscriptionEvent'];

/** `model` is the id that requests use. */
export function toTranscription(
  { text, language, durationMs, segments, words, turns }: SpokenTranscript,
  model: string,
): Schemas['Transcription'] {
  return {
    text,
    language,
    ...(durationMs !== undefined && { duration_ms: Math.round(durationMs) }),
    model,
    ...(segments && { segments: segments.map(toTimedText) }),
    ...(words && { words: words.map(toTimedText) }),
    ...(turns && { turns: turns.map(toTurn), speakers: speakersOf(turns) }),
  };
}

export function toTimedText({ startMs, endMs, text, speaker }: SpokenText): Schemas['TimedText'] {
  return { start_ms: startMs, end_ms: endMs, text, ...(speaker !== undefined && { speaker }) };
}

function toTurn({ speaker, startMs, endMs, text }: SpeakerTurn): Schemas['SpeakerTurn'] {
  return { speaker, start_ms: startMs, end_ms: endMs, text };
}

/** The speakers, in the order of their first turns. */
function speakersOf(turns: readonly SpeakerTurn[]): Schemas['Speaker'][] {
  const totals = new Map<string, number>();
  for (const { speaker, startMs, endMs } of turns) totals.set(speaker, (totals.get(speaker) ?? 0) + endMs - startMs);
  return Array.from(totals, ([speaker, speech_ms]) => ({ speaker, speech_ms }));
}
