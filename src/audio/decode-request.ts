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
  /** Maximum duration, enforced while decoding: headers can lie. */
  readonly maxSeconds: number;
}

export interface DecodedRecording extends Decoded {
  /** Parts that are not in the file: silence takes their place. */
  readonly gaps: readonly Span[];
}

export interface DecodeOptions {
  readonly signal: AbortSignal;
  /** The disk account for written bytes; absent: not accounted. */
  readonly account?: DiskAccount | undefined;
  /** Multiplies the default time limits; 1 when absent. */
  readonly deadlineFactor?: number;
}

/** The first packets of a recording that was cut out of another one may refer to packets that are missing. */
export const maxFailuresAtStart = 5;

/** No speech recorder writes more channels, and each second of them takes long to decode. */
export const maxChannels = 8;
/** Sound below -60 dB of full scale is silent; codecs do not always return zeros. */
export const silentPeak = 32;
/** Hz. */
export const maxSampleRate = 192_000;

export function tooLong(maxSeconds: number): EngineError {
  return new EngineError('recording-too-long', `The recording exceeds the limit of ${String(maxSeconds)} seconds.`);
}

/** For a recording whose channels are to be transcribed separately. */
export function notStereo(channels: number): EngineError {
  const detail = `The recording has ${channels === 1 ? 'one channel' : `${channels} channels`}; separate channels need exactly two.`;
  return new EngineError('parameter-not-supported', detail);
}
