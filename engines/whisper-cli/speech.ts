/** The speech of a recording, transcribed piece by piece; nothing else of it is. */
import { createReadStream, createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { TimedText, Transcript, TranscriptionOptions } from '../contract/index.ts';
import { sampleRate, wavHeader } from '../../lib/wav.ts';
import type { Span } from '../lib/voice-activity/index.ts';
import type { Heard } from './output.ts';
import { encodesOf, planPieces } from './pieces.ts';
import { isSpaced } from './words.ts';

/** A decoded recording, or a piece of one. */
export interface Sound {
  readonly wavPath: string;
  readonly durationMs: number;
}

type Callbacks = Pick<TranscriptionOptions, 'onSegment' | 'onProgress'>;

/** `language`: Whisper's code, or `auto`. */
export type Hear = (sound: Sound, callbacks: Callbacks, language?: string) => Promise<Heard>;

export interface SpeechJob {
  readonly whole: Sound;
  /** At least one part, in order. */
  readonly speech: readonly Span[];
  readonly language: string;
  readonly hear: Hear;
  /** For the pieces. */
  readonly directory: string;
}

export async function transcribeSpeech(
  { whole, speech, language: asked, hear, directory }: SpeechJob,
  { signal, onSegment, onProgress }: TranscriptionOptions,
): Promise<Transcript> {
  const { durationMs } = whole;
  const pieces = planPieces(speech, durationMs);
  const parts: Heard[] = [];
  let language = asked;
  let spareEncodes = encodesOf(durationMs) - pieces.reduce((sum, piece) => sum + encodesOf(lengthOf(piece)), 0);
  for (const piece of pieces) {
    const sound = await cut(whole, piece, join(directory, 'piece.wav'), signal);
    const callbacks: Callbacks = {
      ...(onSegment && { onSegment: (segment) => onSegment(later(segment, piece)) }),
      ...(onProgress && { onProgress: (processedMs) => onProgress(piece.startMs + processedMs, durationMs) }),
    };
    const heard = await hear(sound, callbacks, language);
    parts.push({ ...heard, transcript: shifted(heard.transcript, piece) });
    if (language !== 'auto' || heard.language === undefined) continue;
    // To detect it takes an encode: again only for what was no speech after all, and if the pieces have saved one.
    if (heard.transcript.text !== '' || spareEncodes <= 0) language = heard.language;
    else spareEncodes -= 1;
  }
  return joined(parts, durationMs);
}

const lengthOf = ({ startMs, endMs }: Span): number => endMs - startMs;

/** As a file of its own. The service has written the whole: its header has 44 bytes. */
async function cut({ wavPath }: Sound, piece: Span, path: string, signal: AbortSignal): Promise<Sound> {
  const durationMs = lengthOf(piece);
  const [bytesPerMs, headerBytes] = [(2 * sampleRate) / 1000, wavHeader(0).length];
  const [start, end] = [piece.startMs, piece.endMs].map((ms) => headerBytes + bytesPerMs * ms);
  const samples = createReadStream(wavPath, { start: start ?? 0, end: (end ?? 0) - 1 });
  try {
    await pipeline(withHeader(samples, bytesPerMs * durationMs), createWriteStream(path), { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
  return { wavPath: path, durationMs };
}

async function* withHeader(samples: AsyncIterable<Uint8Array>, bytes: number): AsyncGenerator<Uint8Array> {
  yield wavHeader(bytes);
  yield* samples;
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
