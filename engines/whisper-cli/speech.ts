/** Transcribes only the speech of a recording, piece by piece. */
import type { Decoded, Span, TimedText, Transcript, TranscriptionOptions } from '../contract/index.ts';
import { lengthOf } from '../../lib/wav.ts';
import { type Heard, isSpaced } from './transcript.ts';
import { encodesOf, planPieces } from './pieces.ts';

type Callbacks = Pick<TranscriptionOptions, 'onSegment' | 'onProgress'>;

/** `language` is Whisper's code, or `auto`. */
export type Hear = (sound: Decoded, callbacks: Callbacks, language?: string) => Promise<Heard>;

export interface SpeechJob {
  readonly whole: Decoded;
  /** At least one span, in order. */
  readonly speech: readonly Span[];
  readonly language: string;
  readonly hear: Hear;
}

export async function transcribeSpeech(
  { whole, speech, language: asked, hear }: SpeechJob,
  { onSegment, onProgress }: Callbacks,
): Promise<Transcript> {
  const durationMs = lengthOf(whole);
  const pieces = planPieces(speech, durationMs);
  const parts: Heard[] = [];
  let language = asked;
  let spareEncodes = encodesOf(durationMs) - pieces.reduce((sum, piece) => sum + encodesOf(lengthOf(piece)), 0);
  for (const piece of pieces) {
    const sound = { ...whole, startMs: whole.startMs + piece.startMs, endMs: whole.startMs + piece.endMs };
    const callbacks: Callbacks = {
      ...(onSegment && { onSegment: (segment) => onSegment(later(segment, piece)) }),
      ...(onProgress && { onProgress: (processedMs) => onProgress(piece.startMs + processedMs, durationMs) }),
    };
    const heard = await hear(sound, callbacks, language);
    parts.push({ ...heard, transcript: shifted(heard.transcript, piece) });
    if (language !== 'auto' || heard.language === undefined) continue;
    // Detecting the language takes an encoder run. It is repeated after a silent piece if the pieces have saved a run.
    if (heard.transcript.text !== '' || spareEncodes <= 0) language = heard.language;
    else spareEncodes -= 1;
  }
  return joined(parts, durationMs);
}

const later = ({ startMs, endMs, text }: TimedText, piece: Span): TimedText => ({
  startMs: startMs + piece.startMs,
  endMs: endMs + piece.startMs,
  text,
});

function shifted(transcript: Transcript, piece: Span): Transcript {
  const { segments, words } = transcript;
  return {
    ...transcript,
    ...(segments && { segments: segments.map((segment) => later(segment, piece)) }),
    ...(words && { words: words.map((word) => later(word, piece)) }),
  };
}

function joined(parts: readonly Heard[], durationMs: number): Transcript {
  const spoken = parts.filter(({ transcript }) => transcript.text !== '');
  const transcripts = parts.map(({ transcript }) => transcript);
  const [first] = transcripts;
  return {
    text: spoken.map(({ transcript }) => transcript.text).join(isSpaced(spoken[0]?.language) ? ' ' : ''),
    language: spoken[0]?.transcript.language ?? null,
    durationMs,
    ...(first?.segments && { segments: transcripts.flatMap(({ segments = [] }) => segments) }),
    ...(first?.words && { words: transcripts.flatMap(({ words = [] }) => words) }),
  };
}
