/** Sound as it arrives, in frames of 20 ms with their level. */
import { deinterleave, sampleFormats, toSamples16, viewSamples16 } from '../../lib/samples.ts';
import { levelOf } from '../../lib/voice-gate.ts';

/** Mono sound: signed 16-bit samples, little-endian, or G.711 at 8,000 Hz. */
export type SoundFormat = { readonly encoding: 'pcm'; readonly rate: number } | { readonly encoding: 'pcmu' | 'pcma' };

export interface Frame {
  readonly samples: Int16Array;
  /** In Hz. */
  readonly rate: number;
  readonly ms: number;
  /** Level in decibels of full scale. */
  readonly db: number;
}

const fullScale = 32_768;
const frameSeconds = 0.02;

/** The frames do not depend on the pieces in which the sound arrives, which may end within a sample. */
export class FrameCutter {
  readonly #encoding: SoundFormat['encoding'];
  readonly #rate: number;
  readonly #sampleBytes: number;
  #rest: Uint8Array = new Uint8Array();

  constructor(format: SoundFormat) {
    this.#encoding = format.encoding;
    this.#rate = format.encoding === 'pcm' ? format.rate : 8_000;
    this.#sampleBytes = format.encoding === 'pcm' ? 2 : 1;
  }

  *push(sound: Uint8Array): Generator<Frame> {
    yield* this.#cut(sound, this.#sampleBytes * Math.round(this.#rate * frameSeconds));
  }

  /** The sound after the last frame, as a shorter one. Half a sample stays. */
  *flush(): Generator<Frame> {
    const samples = Math.floor(this.#rest.length / this.#sampleBytes);
    if (samples > 0) yield* this.#cut(new Uint8Array(), samples * this.#sampleBytes);
  }

  *#cut(sound: Uint8Array, frameBytes: number): Generator<Frame> {
    const all = this.#rest.length === 0 ? sound : Buffer.concat([this.#rest, sound]);
    const end = all.length - (all.length % frameBytes);
    this.#rest = new Uint8Array(all.subarray(end)); // a view would keep the whole message
    for (let at = 0; at < end; at += frameBytes) yield this.#frame(all.subarray(at, at + frameBytes));
  }

  #frame(bytes: Uint8Array): Frame {
    const samples = this.#decode(bytes);
    return { samples, rate: this.#rate, ms: (1000 * samples.length) / this.#rate, db: levelOf(samples, fullScale) };
  }

  #decode(bytes: Uint8Array): Int16Array {
    if (this.#encoding === 'pcm') return viewSamples16(bytes);
    const format = this.#encoding === 'pcmu' ? sampleFormats.ulaw : sampleFormats.alaw;
    return toSamples16(deinterleave(bytes, format, 1)[0] ?? new Float32Array());
  }
}
