/** A transcription request to whisper-host or whisper-cli. */
import type { Decoded, TranscriptionCall } from '../contract/index.ts';
import type { RawSegment, Requested } from './transcript.ts';

/** Limits OpenMP spin-waiting, so that idle threads do not starve other processes. */
export const spinLimit = { GOMP_SPINCOUNT: '10000' };

/** Safety net only: the caller's signal carries the real timeout. */
export const hardLimitMs = 24 * 3_600_000;

export interface WhisperCall extends Omit<TranscriptionCall, 'recording' | 'model' | 'language' | 'timestamps'> {
  /** Path of whisper-cli. */
  readonly program: string;
  readonly modelFile: string;
  /** Silero VAD model (ggml), if configured. */
  readonly vadFile: string | undefined;
  readonly audio: Decoded;
  /** Whisper's language code, or `auto`. */
  readonly language: string;
  /** With `auto`: the languages to choose from. Only whisper-host supports this. */
  readonly languages?: readonly string[];
  readonly threads: number;
  /** Gives the prompt to every window of 30 s, instead of only the first one. */
  readonly carriesPrompt: boolean;
  /** Encoder context: 50 per second of audio. Defaults to the context of 30 s. */
  readonly audioContext: number | undefined;
  readonly requested: Requested;
}

export interface WhisperOptions {
  readonly signal: AbortSignal;
  /** Called with each segment as soon as it is complete; undefined if the caller needs no segments. */
  readonly onRaw: ((raw: RawSegment) => void) | undefined;
}
