import { undecodable } from '../failures.ts';
import { maxSampleRate, maxChannels } from '../decode-request.ts';

/** A block of decoded audio. */
export interface Pcm {
  /** Hz. */
  readonly sampleRate: number;
  /** One array per channel, all of the same length. Samples range from -1 to 1. */
  readonly channels: readonly Float32Array[];
  /** The timestamp, in milliseconds from the beginning of the recording; absent if the audio has none. */
  readonly startMs?: number;
}

const minSampleRate = 1_000;

/**
 * Rejects implausible values. A forged header could otherwise bypass the maximum duration, which is measured in
 * seconds, or make a decoder allocate memory for 65,535 channels.
 */
export function assertPlausible(sampleRate: number, channels: number): void {
  if (!Number.isInteger(sampleRate) || sampleRate < minSampleRate || sampleRate > maxSampleRate) {
    throw undecodable(`its sample rate is ${sampleRate} Hz, not between ${minSampleRate} and ${maxSampleRate}`);
  }
  if (channels < 1 || channels > maxChannels) {
    throw undecodable(`its number of channels is ${channels}, not between 1 and ${maxChannels}`);
  }
}
