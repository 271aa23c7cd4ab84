/** Cuts a recording into pieces that a model takes at once, where it is quietest. */
import { sampleRate } from '../../lib/wav.ts';

export interface Piece {
  /** Samples before it. */
  readonly start: number;
  readonly samples: Int16Array;
}

/** A piece takes memory by its length, and its features are computed synchronously. */
const longest = 30 * sampleRate;
const frame = sampleRate / 100;
/** In frames of 10 ms: the part of a piece in which it may end, a pause between words, a gap within one. */
const lengths = { search: 1_000, pause: 30, gap: 5 } as const;

/** At 16 kHz. The samples of a piece are valid until the next one. */
export async function* piecesOf(sound: AsyncIterable<Int16Array>): AsyncGenerator<Piece> {
  const buffer = new Int16Array(longest);
  let [start, filled] = [0, 0];
  for await (const chunk of sound) {
    for (let at = 0; at < chunk.length;) {
      if (filled === longest) {
        const end = quietestPlace(buffer);
        yield { start, samples: buffer.subarray(0, end) };
        buffer.copyWithin(0, end);
        start += end;
        filled -= end;
      }
      const part = chunk.subarray(at, at + longest - filled);
      buffer.set(part, filled);
      filled += part.length;
      at += part.length;
    }
  }
  if (filled > 0) yield { start, samples: buffer.subarray(0, filled) };
}

/**
 * In the last 10 s: the middle of the quietest 50 ms in the quietest 300 ms. A closure before a plosive is as quiet as a
 * pause, but shorter.
 */
export function quietestPlace(samples: Int16Array): number {
  const from = Math.max(0, samples.length - lengths.search * frame);
  const energies = energiesOf(samples.subarray(from));
  const pause = quietest(energies, lengths.pause);
  const gap = pause + quietest(energies.slice(pause, pause + lengths.pause + 1), lengths.gap);
  return from + Math.round((gap + lengths.gap / 2) * frame);
}

/** Of the frames, summed up from the first: exact, since they stay below 2^53. */
function energiesOf(samples: Int16Array): number[] {
  const sums = [0];
  let sum = 0;
  for (let at = 0; at + frame <= samples.length; at += frame) {
    for (let i = at; i < at + frame; i++) sum += (samples[i] ?? 0) ** 2;
    sums.push(sum);
  }
  return sums;
}

/** Index of the first of the `length` frames with the least energy. */
function quietest(sums: readonly number[], length: number): number {
  const energy = (at: number) => (sums[at + length] ?? Infinity) - (sums[at] ?? 0);
  return sums.reduce((best, _sum, at) => (energy(at) < energy(best) ? at : best), 0);
}
