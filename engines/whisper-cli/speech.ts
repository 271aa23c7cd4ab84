/** Transcribes only the speech of a recording, piece by piece. */
import type { Decoded, Span, TimedText, Transcript, TranscriptionOptions } from '../contract/index.ts';
import { lengthOf } from '../../lib/wav.ts';
import { type RawTranscript, isSpaced } from './transcript.ts';
import { encodesOf, planPieces } from './pieces.ts';

type Callbacks = Pick<TranscriptionOptions, 'onSegment' | 'onProgress'>;

/** `language` is Whisper's code, or `auto`. */
export type TranscribePiece = (audio: Decoded, callbacks: Callbacks, language?: string) => Promise<RawTranscript>;

export interface SpeechRequest {
  readonly whole: Decoded;
  /** At least one span, in order. */
  readonly speech: readonly Span[];
  readonly language: string;
  readonly transcribePiece: TranscribePiece;
}

export async function transcribeSpeech(
  { whole, speech, language: requested, transcribePiece }: SpeechRequest,
  { onSegment, onProgress }: Callbacks,
): Promise<Transcript> {
  const durationMs = lengthOf(whole);
  const pieces = planPieces(speech, durationMs);
  const parts: RawTranscript[] = [];
  let language = requested;
  let spareEncodes = encodesOf(durationMs) - pieces.reduce((sum, piece) => sum + encodesOf(lengthOf(piece)), 0);
  for (const piece of pieces) {
    const audio = { ...whole, startMs: whole.startMs + piece.startMs, endMs: whole.startMs + piece.endMs };
    const callbacks: Callbacks = {
      ...(onSegment && { onSegment: (segment) => onSegment(shift(segment, piece)) }),
      ...(onProgress && { onProgress: (processedMs) => onProgress(piece.startMs + processedMs, durationMs) }),
    };
    const transcribed = await transcribePiece(audio, callbacks, language);
    parts.push({ ...transcribed, transcript: shiftTranscript(transcribed.transcript, piece) });
    if (language !== 'auto' || transcribed.language === undefined) continue;
    // Detecting the language takes an encoder run. It is repeated after a silent piece if the pieces have saved a run.
    if (transcribed.transcript.text !== '' || spareEncodes <= 0) language = transcribed.language;
    else spareEncodes -= 1;
  }
  return joined(parts, durationMs);
}

const shift = ({ startMs, endMs, text }: TimedText, piece: Span): TimedText => ({
  startMs: startMs + piece.startMs,
  endMs: endMs + piece.startMs,
  text,
});

function shiftTranscript(transcript: Transcript, piece: Span): Transcript {
  const { segments, words } = transcript;
  return {
    ...transcript,
    ...(segments && { segments: segments.map((segment) => shift(segment, piece)) }),
    ...(words && { words: words.map((word) => shift(word, piece)) }),
  };
}

function joined(parts: readonly RawTranscript[], durationMs: number): Transcript {
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
