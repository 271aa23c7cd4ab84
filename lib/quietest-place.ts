/** Finds the place to cut speech: the pause between two words. */
import { sampleRate } from './wav.ts';

const frame = sampleRate / 100;
/** Lengths in frames of 10 ms: a pause between words, and a gap within a word. */
const lengths = { pause: 30, gap: 5 } as const;

/**
 * Returns the index of the sample in the middle of the quietest 50 ms in the quietest 300 ms of the last `searchMs`. A
 * closure before a plosive is as quiet as a pause, but shorter.
 */
export function quietestPlace(samples: Int16Array, searchMs: number): number {
  const from = Math.max(0, samples.length - (searchMs / 10) * frame);
  const energies = energiesOf(samples.subarray(from));
  const pause = quietest(energies, lengths.pause);
  const gap = pause + quietest(energies.slice(pause, pause + lengths.pause + 1), lengths.gap);
  return from + Math.round((gap + lengths.gap / 2) * frame);
}

/** Cumulative energy per frame; exact, because the sums stay below 2^53. */
function energiesOf(samples: Int16Array): number[] {
  const sums = [0];
  let sum = 0;
  for (let at = 0; at + frame <= samples.length; at += frame) {
    for (let i = at; i < at + frame; i++) sum += (samples[i] ?? 0) ** 2;
    sums.push(sum);
  }
  return sums;
}

/** Index of the first of the `length` consecutive frames with the least energy. */
function quietest(sums: readonly number[], length: number): number {
  const energy = (at: number) => (sums[at + length] ?? Infinity) - (sums[at] ?? 0);
  return sums.reduce((best, _sum, at) => (energy(at) < energy(best) ? at : best), 0);
}
