/** The speech of an answer in the format of the session, in parts of 100 ms. */
import { pcmFormat } from '../../engines/contract/index.ts';
import { toFloats, toG711, toSamples16, viewSamples16 } from '../../lib/samples.ts';
import { levelOf } from '../../lib/voice-gate.ts';
import { Resampler } from '../audio/resample.ts';
import type { SoundFormat } from './sound-input.ts';

/** `pcm`: signed 16-bit little-endian samples at 24,000 Hz. The others: G.711 at 8,000 Hz. */
export type OutputEncoding = SoundFormat['encoding'];

export interface Sound {
  readonly bytes: Uint8Array;
  readonly ms: number;
  /** Level in decibels relative to full scale. */
  readonly db: number;
}

const partMs = 100;
const fullScale = 32_768;

/**
 * Yields the first sound as soon as the engine has returned it, then parts of 100 ms, then the rest. `audio` has whole
 * samples of `pcmFormat`.
 */
export async function* soundOf(audio: AsyncIterable<Uint8Array>, encoding: OutputEncoding): AsyncGenerator<Sound> {
  const { rate, resample, flush, encode } = encoderOf(encoding);
  const partLength = (rate * partMs) / 1000;
  let rest = new Int16Array();
  let isFirst = true;

  /** Keeps a rest that is shorter than a part, unless `keeps` is false. */
  function* cut(samples: Int16Array, keeps: boolean): Generator<Sound> {
    const all = rest.length === 0 ? samples : concat(rest, samples);
    let at = 0;
    while (at < all.length && !(keeps && all.length - at < partLength)) {
      const part = all.subarray(at, at + partLength);
      at += part.length;
      yield { bytes: encode(part), ms: (1000 * part.length) / rate, db: levelOf(part, fullScale) };
    }
    rest = all.slice(at);
  }

  for await (const bytes of audio) {
    const samples = resample(viewSamples16(bytes));
    yield* cut(samples, !isFirst || samples.length > partLength);
    isFirst &&= samples.length === 0;
  }
  yield* cut(flush(), false);
}

/** `flush` returns the last samples of `resample`. */
function encoderOf(encoding: OutputEncoding) {
  const { sampleRate } = pcmFormat;
  if (encoding === 'pcm') {
    const encode = ({ buffer, byteOffset, byteLength }: Int16Array) => new Uint8Array(buffer, byteOffset, byteLength);
    return { rate: sampleRate, resample: (samples: Int16Array) => samples, flush: () => new Int16Array(), encode };
  }
  const rate = 8_000;
  const resampler = new Resampler(sampleRate, rate);
  const law = encoding === 'pcmu' ? 'ulaw' : 'alaw';
  return {
    rate,
    resample: (samples: Int16Array) => toSamples16(resampler.push(toFloats(samples))),
    flush: () => toSamples16(resampler.flush()),
    encode: (samples: Int16Array) => toG711(samples, law),
  };
}

function concat(first: Int16Array, second: Int16Array): Int16Array {
  const all = new Int16Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}
