/** Mixes to mono with ffmpeg, which cannot see that opposite phases cancel. */
import type { Readable } from 'node:stream';
import { createByteReader } from '../../lib/byte-reader.ts';
import { restoreCancelled, sampleFormats, viewSamples16 } from '../../lib/samples.ts';
import { framesOf, type WavLayout } from '../../lib/wav-reader.ts';
import { sampleRate } from '../../lib/wav.ts';

/**
 * Filters of ffmpeg. Their output has two channels: the mix of a mono or stereo input, and its first channel. With `<`,
 * the shares of the channels that exist add up to 1.
 */
export const mixFilters = `aformat=sample_fmts=s16:sample_rates=${String(sampleRate)}:channel_layouts=mono|stereo,pan=stereo|c0<c0+c1|c1=c0`;

const layout: WavLayout = { sampleRate, channels: 2, format: sampleFormats['pcm-s16'], bytes: Infinity };

/** A track below -60 dB of full scale is silent; codecs do not always return zeros. */
const silence = 32;

/** The output of the filters as mono. */
export class Mix {
  hasSound = false;
  readonly #output: Readable;

  constructor(output: Readable) {
    this.#output = output;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    for await (const frames of framesOf(createByteReader(this.#output), layout)) {
      const [mix, first] = split(viewSamples16(frames));
      restoreCancelled(mix, [first], 2);
      this.hasSound ||= mix.some((sample) => Math.abs(sample) > silence);
      yield Buffer.from(mix.buffer);
    }
  }
}

function split(pairs: Int16Array): [Int16Array, Int16Array] {
  const [even, odd] = [new Int16Array(pairs.length / 2), new Int16Array(pairs.length / 2)];
  for (let i = 0; i < even.length; i++) {
    even[i] = pairs[2 * i] ?? 0;
    odd[i] = pairs[2 * i + 1] ?? 0;
  }
  return [even, odd];
}
