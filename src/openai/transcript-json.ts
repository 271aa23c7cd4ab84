/** Transcripts in OpenAI's JSON formats: `json`, `verbose_json` and `diarized_json`. */
import type { SpeakerTurn, TimedText, Transcript } from '../../engines/contract/index.ts';
import { languageName } from '../../lib/languages.ts';
import { spacesBefore } from '../transcription/spaces.ts';
import type { Schemas } from './operations.ts';
import type { Task } from './transcription-fields.ts';

export function toJson({ text, language, durationMs }: Transcript): Schemas['Transcription'] {
  return { text, languages: languagesOf(language), ...usageOf(durationMs) };
}

/** Returns the detected languages in the form that `gpt-transcribe` uses. */
export function languagesOf(language: string | null): Schemas['TranscriptionLanguage'][] {
  return language === null ? [] : [{ code: language }];
}

/** Converts a transcript to `verbose_json`, including its segments and words, if any. */
export function toVerboseJson(
  { text, language, durationMs, segments, words }: Transcript,
  task: Task = 'transcribe',
): Schemas['VerboseTranscription'] {
  const written = task === 'translate' && text !== '' ? 'en' : language;
  return {
    task,
    ...(written !== null && { language: languageName(written) }),
    languages: languagesOf(language),
    ...(durationMs !== undefined && { duration: Math.round(durationMs) / 1000 }),
    text,
    ...(segments && { segments: toSegments(segments, text) }),
    ...(words && { words: words.map(toWord) }),
    ...usageOf(durationMs),
  };
}

export function toDiarizedJson({ text, durationMs = 0, turns = [] }: Transcript): Schemas['DiarizedTranscription'] {
  const segments = toSpeakerSegments(turns);
  return { task: 'transcribe', duration: Math.round(durationMs) / 1000, text, segments, ...usageOf(durationMs) };
}

export function toSpeakerSegments(turns: readonly SpeakerTurn[]): Schemas['SpeakerTurn'][] {
  return turns.map(({ startMs, endMs, text, speaker }, index) => ({
    ...{ type: 'transcript.text.segment' as const, id: `seg_${index}` },
    ...{ start: startMs / 1000, end: endMs / 1000, text, speaker },
  }));
}

/** Returns the duration in whole seconds, rounded up as OpenAI does. */
function usageOf(durationMs: number | undefined): Pick<Schemas['Transcription'], 'usage'> {
  return durationMs === undefined ? {} : { usage: { type: 'duration', seconds: Math.ceil(durationMs / 1000) } };
}

/** Strict clients (AI SDK) reject segments without these internal values of Whisper, which engines do not report. */
const placeholders = { temperature: 0, avg_logprob: 0, compression_ratio: 0, no_speech_prob: 0 } as const;

/** Includes the spaces between segments, so that, as with Whisper, the segments concatenate to the text. */
function toSegments(segments: readonly TimedText[], whole: string): Schemas['TranscriptionSegment'][] {
  const spaces = spacesBefore(segments, whole);
  return segments.map(({ startMs, endMs, text }, id) => {
    const spaced = `${spaces[id] ?? ''}${text}`;
    return { id, seek: 0, start: startMs / 1000, end: endMs / 1000, text: spaced, tokens: [], ...placeholders };
  });
}

function toWord({ startMs, endMs, text }: TimedText): Schemas['TranscriptionWord'] {
  return { word: text, start: startMs / 1000, end: endMs / 1000 };
}
