/** The steepness of the low-pass: 70 dB down at half of the lower rate, flat up to seven eighths of that. */
const stopBandDb = 66;
const transition = 0.15;

/** Above this many phases, the nearest one is taken: rates that share no large divisor would need a huge table. */
const maxPhases = 1024;

/**
 * Converts mono samples from one sample rate to another, block by block, with a polyphase windowed sinc.
 * What the blocks are cut into makes no difference to the result; n samples in give ceil(n * to / from) out.
 */
export class Resampler {
  /** Output sample k lies at input position k * step / phases; both are integers, so nothing drifts. */
  readonly #step: number;
  readonly #ticks: number;
  readonly #filters: readonly Float32Array[];
  /** Input samples that a filter reaches to either side. */
  readonly #reach: number;

  /** The input that filters still need; starts with silence, so that the first filter has something to the left. */
  #input: Float32Array;
  /** The next output sample's position: the first input sample under its filter, and the ticks beyond it. */
  #index = 0;
  #tick = 0;

  /** Rates in Hz, whole numbers. */
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
    const output = this.#filter(input);
    this.#input = input.slice(this.#index);
    this.#index = 0;
    return output;
  }

  /** The last samples, whose filters reach beyond the end of the input. */
  flush(): Float32Array {
    return this.push(new Float32Array(this.#reach));
  }

  #filter(input: Float32Array): Float32Array {
    const width = 2 * this.#reach;
    const positions = input.length - width + 1 - this.#index;
    if (positions <= 0) return new Float32Array(0);
    const count = Math.ceil((positions * this.#ticks - this.#tick) / this.#step);
    const output = new Float32Array(Math.max(0, count));
    for (let k = 0; k < output.length; k++) {
      output[k] = dot(this.#filters[this.#phase()]!, input, this.#index);
      this.#tick += this.#step;
      this.#index += Math.floor(this.#tick / this.#ticks);
      this.#tick %= this.#ticks;
    }
    return output;
  }

  #phase(): number {
    return Math.floor((this.#tick * this.#filters.length) / this.#ticks);
  }
}

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
  const centre = cutoff * (1 - transition / 2);
  return Array.from({ length: phases }, (_, phase) => {
    const taps = Float32Array.from({ length: 2 * reach }, (_, i) => {
      const t = i - reach + 1 - phase / phases;
      return centre * sinc(centre * t) * kaiser(t / reach, beta);
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
