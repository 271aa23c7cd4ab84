/**
 * Low-pass filter: reaches this attenuation at half the lower sample rate (for example, 8 kHz), and is flat up to 85 %
 * of that frequency.
 */
const stopBandDb = 66;
const transition = 0.15;

/**
 * Rates without a large common divisor would need filters for up to 24,000 phases. They use the nearest of this many
 * phases instead.
 */
const maxPhases = 1024;

/**
 * Converts mono samples from one sample rate to another, block by block, with a polyphase windowed-sinc filter. The
 * result does not depend on the block sizes; n input samples give ceil(n * to / from) output samples.
 */
export class Resampler {
  /** Time is an integer, so it cannot drift: an input sample lasts `ticks`, an output sample `step`. */
  readonly #ticks: number;
  readonly #step: number;
  /** The filter for each phase, which is the offset of an output sample from an input sample. */
  readonly #filters: readonly Float32Array[];
  /** Number of input samples on either side of the center of a filter. */
  readonly #reach: number;

  /** Input samples from the start of the next output sample's filter; initially the silence before the recording. */
  #input: Float32Array;
  #phase = 0;

  /** Both rates are integers in Hz. */
  constructor(from: number, to: number) {
    const divisor = greatestCommonDivisor(from, to);
    this.#step = from / divisor;
    this.#ticks = to / divisor;
    const cutoff = Math.min(1, to / from);
    this.#reach = filterReach(cutoff);
    this.#filters = filterBank(Math.min(this.#ticks, maxPhases), this.#reach, cutoff);
    this.#input = new Float32Array(this.#reach - 1);
  }

  push(block: Float32Array): Float32Array {
    const input = new Float32Array(this.#input.length + block.length);
    input.set(this.#input);
    input.set(block, this.#input.length);
    return this.#filter(input);
  }

  /** Returns the last samples, whose filters extend past the end of the input. */
  flush(): Float32Array {
    return this.push(new Float32Array(this.#reach));
  }

  #filter(input: Float32Array): Float32Array {
    const positions = Math.max(0, input.length - 2 * this.#reach + 1);
    const output = new Float32Array(Math.ceil((positions * this.#ticks - this.#phase) / this.#step));
    let position = 0;
    for (let k = 0; k < output.length; k++) {
      const filter = Math.floor((this.#phase * this.#filters.length) / this.#ticks);
      output[k] = dot(this.#filters[filter]!, input, position);
      this.#phase += this.#step;
      position += Math.floor(this.#phase / this.#ticks);
      this.#phase %= this.#ticks;
    }
    this.#input = input.slice(position);
    return output;
  }
}

/** Converts mono blocks to one sample rate. The rate may differ between blocks, because files can be concatenations. */
export class RateConverter {
  readonly #to: number;
  #from: number;
  #resampler: Resampler | undefined;

  constructor(to: number) {
    this.#to = to;
    this.#from = to;
  }

  push(block: Float32Array, from: number): Float32Array[] {
    const before = from === this.#from ? [] : this.flush();
    this.#from = from;
    if (from !== this.#to) this.#resampler ??= new Resampler(from, this.#to);
    return [...before, this.#resampler?.push(block) ?? block];
  }

  flush(): Float32Array[] {
    const rest = this.#resampler ? [this.#resampler.flush()] : [];
    this.#resampler = undefined;
    return rest;
  }
}

/** Uses four accumulators, which is 25 % faster than one. The filter length must be a multiple of four. */
function dot(filter: Float32Array, input: Float32Array, start: number): number {
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  for (let i = 0; i < filter.length; i += 4) {
    a += filter[i]! * input[start + i]!;
    b += filter[i + 1]! * input[start + i + 1]!;
    c += filter[i + 2]! * input[start + i + 2]!;
    d += filter[i + 3]! * input[start + i + 3]!;
  }
  return a + b + c + d;
}

function filterReach(cutoff: number): number {
  const width = (stopBandDb - 8) / (2.285 * Math.PI * transition * cutoff);
  return 2 * Math.ceil(width / 4);
}

function filterBank(phases: number, reach: number, cutoff: number): Float32Array[] {
  const beta = 0.1102 * (stopBandDb - 8.7);
  const center = cutoff * (1 - transition / 2);
  return Array.from({ length: phases }, (_, phase) => {
    const taps = Float32Array.from({ length: 2 * reach }, (_, i) => {
      const t = i - reach + 1 - phase / phases;
      return center * sinc(center * t) * kaiser(t / reach, beta);
    });
    const gain = taps.reduce((sum, tap) => sum + tap, 0);
    return taps.map((tap) => tap / gain);
  });
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
}

function kaiser(x: number, beta: number): number {
  return Math.abs(x) > 1 ? 0 : bessel(beta * Math.sqrt(1 - x * x)) / bessel(beta);
}

function bessel(x: number): number {
  let sum = 1;
  let term = 1;
  for (let k = 1; term > sum * 1e-12; k++) {
    term *= (x / (2 * k)) ** 2;
    sum += term;
  }
  return sum;
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}
