/** The audio that ffmpeg decodes, mixed to mono, with silence inserted where the file has no audio. */
import type { Readable } from 'node:stream';
import { restoreCanceled, viewSamples16 } from '../../../lib/samples.ts';
import { sampleRate, samplesPerMs } from '../../../lib/wav.ts';
import { silentPeak, type Channel } from '../decode-request.ts';
import type { Timeline } from '../timeline.ts';
import { readBlocks } from './timed-blocks.ts';

/**
 * Returns ffmpeg filters. Their output has two channels: the mix of a mono or stereo input, and its first channel. `<`
 * normalizes the gains of the existing channels to a sum of 1. With `channel`, both output channels are that channel.
 */
export function mixFilters(channel?: Channel): string {
  const format = `aformat=sample_fmts=s16:sample_rates=${String(sampleRate)}:channel_layouts=mono|stereo`;
  return channel === undefined
    ? `${format},pan=stereo|c0<c0+c1|c1=c0`
    : `${format},pan=stereo|c0=c${channel}|c1=c${channel}`;
}

const bytesPerMs = 4 * samplesPerMs;

export class Mix {
  hasSound = false;
  readonly timeline: Timeline;
  readonly #output: Readable;

  constructor(output: Readable, timeline: Timeline) {
    this.#output = output;
    this.timeline = timeline;
  }

  /** Yields mono samples. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    for await (const blocks of readBlocks(this.#output)) {
      let adjacent: Buffer[] = [];
      for (const { startMs, samples } of blocks) {
        const gapMs = this.timeline.place(startMs, samples.length / bytesPerMs);
        if (gapMs > 0) {
          yield this.#mix(adjacent);
          yield* silentPieces(gapMs);
          adjacent = [];
        }
        adjacent.push(samples);
      }
      yield this.#mix(adjacent);
    }
  }

  #mix(blocks: readonly Buffer[]): Buffer {
    const [mix, first] = split(viewSamples16(Buffer.concat(blocks)));
    restoreCanceled(mix, [first], 2);
    this.hasSound ||= mix.some((sample) => Math.abs(sample) > silentPeak);
    return Buffer.from(mix.buffer);
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

const pieceMs = 1_000;

function* silentPieces(ms: number): Generator<Buffer> {
  for (let left = ms; left > 0; left -= pieceMs) yield Buffer.alloc(2 * samplesPerMs * Math.min(left, pieceMs));
}
