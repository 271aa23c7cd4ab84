/** Sound as it arrives, in frames of 20 ms with their level. */
import { deinterleave, type SampleFormatName, sampleFormats } from '../../lib/samples.ts';
import { levelOf } from '../../lib/voice-gate.ts';

/** Mono sound: signed 16-bit samples, little-endian, or G.711 at 8,000 Hz. */
export type SoundFormat = { readonly encoding: 'pcm'; readonly rate: number } | { readonly encoding: 'pcmu' | 'pcma' };

export interface Frame {
  /** In the format of the client. */
  readonly bytes: Uint8Array;
  readonly ms: number;
  /** Level in decibels of full scale. */
  readonly db: number;
}

const encodings = { pcm: 'pcm-s16', pcmu: 'ulaw', pcma: 'alaw' } as const satisfies Record<
  SoundFormat['encoding'],
  SampleFormatName
>;

const frameSeconds = 0.02;

/** In Hz. */
export const rateOf = (format: SoundFormat): number => (format.encoding === 'pcm' ? format.rate : 8_000);

/** Drops half a sample at the end. */
export function samplesOf(bytes: Uint8Array, { encoding }: SoundFormat): Float32Array {
  return deinterleave(bytes, sampleFormats[encodings[encoding]], 1)[0] ?? new Float32Array();
}

/** The frames do not depend on the pieces in which the sound arrives, which may end within a sample. */
export class FrameCutter {
  readonly #format: SoundFormat;
  readonly #sampleBytes: number;
  readonly #frameBytes: number;
  #rest: Uint8Array = new Uint8Array();

  constructor(format: SoundFormat) {
    this.#format = format;
    this.#sampleBytes = sampleFormats[encodings[format.encoding]].bytes;
    this.#frameBytes = this.#sampleBytes * Math.round(rateOf(format) * frameSeconds);
  }

  *push(sound: Uint8Array): Generator<Frame> {
    const all = this.#rest.length === 0 ? sound : Buffer.concat([this.#rest, sound]);
    const whole = all.length - (all.length % this.#frameBytes);
    this.#rest = new Uint8Array(all.subarray(whole)); // a view would keep the whole message
    for (let at = 0; at < whole; at += this.#frameBytes) yield this.#frame(all.subarray(at, at + this.#frameBytes));
  }

  /** The sound after the last frame, as a shorter one. */
  *flush(): Generator<Frame> {
    const whole = this.#rest.length - (this.#rest.length % this.#sampleBytes);
    const [bytes, half] = [this.#rest.subarray(0, whole), this.#rest.subarray(whole)];
    this.#rest = half;
    if (whole > 0) yield this.#frame(bytes);
  }

  #frame(bytes: Uint8Array): Frame {
    const samples = samplesOf(bytes, this.#format);
    return { bytes, ms: (1000 * samples.length) / rateOf(this.#format), db: levelOf(samples) };
  }
}
