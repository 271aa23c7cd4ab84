/** Request, options and errors common to all decoders. */
import { EngineError, type Container, type Decoded, type Span } from '../../engines/contract/index.ts';
import type { DiskAccount } from '../system/disk-budget.ts';

/** The first or the second channel. */
export type Channel = 0 | 1;

export interface DecodeRequest {
  readonly path: string;
  readonly container: Container;
  /** Path of the WAV file to create. */
  readonly wavPath: string;
  /** Decodes only this channel of a stereo recording. Default: the mix of all channels. */
  readonly channel?: Channel | undefined;
  /** Maximum duration. It is enforced while decoding, because headers can lie. */
  readonly maxSeconds: number;
}

export interface DecodedRecording extends Decoded {
  /** Parts that are missing from the file and were filled with silence. */
  readonly gaps: readonly Span[];
}

export interface DecodeOptions {
  readonly signal: AbortSignal;
  /** The disk account charged for written bytes. If absent, they are not counted. */
  readonly account?: DiskAccount | undefined;
  /** Multiplies the default time limits. Default: 1. */
  readonly deadlineFactor?: number;
}

/** If a recording was cut out of a longer one, its first packets may refer to missing packets. */
export const maxFailuresAtStart = 5;

/** No speech recorder writes more channels, and decoding more would be slow. */
export const maxChannels = 8;
/** A peak of up to -60 dBFS counts as silence; decoders do not always return exact zeros. */
export const silentPeak = 32;
/** Hz. */
export const maxSampleRate = 192_000;

export function tooLong(maxSeconds: number): EngineError {
  return new EngineError('recording-too-long', `The recording exceeds the limit of ${String(maxSeconds)} seconds.`);
}

/** Returns the error for separate transcription of channels if the recording does not have exactly two. */
export function notStereo(channels: number): EngineError {
  const detail = `The recording has ${channels === 1 ? 'one channel' : `${channels} channels`}; separate channels need exactly two.`;
  return new EngineError('parameter-not-supported', detail);
}
