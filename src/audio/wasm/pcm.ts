import { undecodable } from './failures.ts';

/** A stretch of decoded audio. */
export interface Pcm {
  /** Hz. */
  readonly sampleRate: number;
  /** One array per channel, all of the same length; full scale is -1 to 1. */
  readonly channels: readonly Float32Array[];
}

const minSampleRate = 1_000;
const maxSampleRate = 768_000;
const maxChannels = 32;

/**
 * Refuses what no recording device writes. A forged header would otherwise get round the limit on the length, which
 * counts seconds, or make a decoder reserve memory for 65,535 channels.
 */
export function assertPlausible(sampleRate: number, channels: number): void {
  if (!Number.isInteger(sampleRate) || sampleRate < minSampleRate || sampleRate > maxSampleRate) {
    throw undecodable(
      `its sample rate is given as ${sampleRate} Hz, which is not between ${minSampleRate} and ${maxSampleRate}`,
    );
  }
  if (channels < 1 || channels > maxChannels) {
    throw undecodable(`its number of channels is given as ${channels}, which is not between 1 and ${maxChannels}`);
  }
}

/** The mean of all channels. */
export function mixDown(channels: readonly Float32Array[]): Float32Array {
  const [first] = channels;
  if (first === undefined) return new Float32Array(0);
  if (channels.length === 1) return first;
  const mono = new Float32Array(first.length);
  for (const channel of channels) {
    for (let i = 0; i < mono.length; i++) mono[i]! += channel[i]!;
  }
  for (let i = 0; i < mono.length; i++) mono[i]! /= channels.length;
  return mono;
}
