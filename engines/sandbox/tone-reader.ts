/** Finds and reads the bursts of tones.ts in audio. */
import { beginning, checksum, highs, lows, maxBytes, pulseLength, radians, sampleRate, type Burst } from './tones.ts';

/** A burst and its place. */
export interface PlacedBurst extends Burst {
  readonly startMs: number;
  readonly endMs: number;
}

/** Samples per level. */
const hop = 40;
/** Fraction of the loud level that a pulse exceeds, and the fraction of its length for which it does. */
const edge = 0.25;
const loudPart = 0.67;
/** Maximum length of a burst, in samples. */
const longest = (maxBytes + 2) * pulseLength(0.25) * 1.1;
/** Minimum fraction of the energy of a pulse that is in its two tones: 0.8 as synthesized, below 0.1 in noise. */
const minPurity = 0.2;

interface Run {
  readonly start: number;
  readonly end: number;
}

/** Reads audio piece by piece and finds the bursts in it. Other sounds are skipped. */
export class ToneReader {
  readonly #threshold: number;
  /** The samples since `#from`. */
  #samples = new Int16Array();
  #from = 0;
  #at = 0;
  #energy = 0;
  /** The index at which the current pulse began. */
  #start: number | undefined;
  #pulses: Run[] = [];

  /** `level`: the result of `loudLevel`. */
  constructor(level: number) {
    this.#threshold = 2 * hop * (edge * level) ** 2;
  }

  *push(samples: Int16Array): Generator<PlacedBurst> {
    const joined = new Int16Array(this.#samples.length + samples.length);
    joined.set(this.#samples);
    joined.set(samples, this.#samples.length);
    this.#samples = joined;
    for (; this.#at + hop <= this.#from + joined.length; this.#at += hop) {
      const energy = energyOf(joined, this.#at - this.#from);
      const burst = this.#follow(energy + this.#energy > this.#threshold);
      this.#energy = energy;
      if (burst) yield burst;
    }
    const first = Math.max(this.#from, (this.#pulses[0]?.start ?? this.#start ?? this.#at) - pulseLength(0.25));
    this.#samples = joined.slice(first - this.#from);
    this.#from = first;
  }

  *end(): Generator<PlacedBurst> {
    yield* this.push(new Int16Array(longest));
  }

  #follow(isLoud: boolean): PlacedBurst | undefined {
    const at = this.#at;
    if (isLoud) {
      this.#start ??= at;
      if (at - (this.#pulses[0]?.start ?? this.#start) <= longest) return undefined;
    }
    if (this.#start !== undefined) {
      this.#pulses.push({ start: this.#start, end: at });
      this.#start = undefined;
    }
    const pulses = this.#pulses;
    const last = pulses.at(-1);
    // The silence between pulses lasts half a pulse; the silence between bursts, more than three pulses.
    if (!last || (!isLoud && at - last.end <= 1.7 * typicalLength(pulses))) return undefined;
    this.#pulses = [];
    return readBurst(pulses, this.#samples, this.#from);
  }
}

/** The median. */
function typicalLength(pulses: readonly Run[]): number {
  const lengths = pulses.map(({ start, end }) => end - start).sort((a, b) => a - b);
  return lengths[lengths.length >> 1] ?? 0;
}

/** The sum of squares of the samples of a hop. */
function energyOf(samples: Int16Array, from: number): number {
  let energy = 0;
  for (let i = from; i < from + hop; i++) energy += (samples[i] ?? 0) ** 2;
  return energy;
}

/** Number of hops of a sound at each level, in steps of 32. */
export type Levels = Uint32Array;
export const newLevels = (): Levels => new Uint32Array(1024);

export function countLevels(samples: Int16Array, levels: Levels): void {
  for (let at = 0; at + hop <= samples.length; at += hop) {
    const level = Math.min(1023, Math.sqrt(energyOf(samples, at) / hop) >> 5);
    levels[level] = (levels[level] ?? 0) + 1;
  }
}

/**
 * Returns the level that a tenth of the audio, not counting silence, exceeds. The loudest samples may be artifacts of
 * libopus.
 */
export function loudLevel(levels: Levels): number {
  const loud = levels.subarray(4);
  let left = loud.reduce((sum, count) => sum + count, 0) * 0.9;
  return 32 * (4 + loud.findIndex((count) => (left -= count) < 0));
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Returns undefined for other sounds. Codecs may hide the end of a pulse, so several lengths are tried. */
function readBurst(runs: readonly Run[], samples: Int16Array, from: number): PlacedBurst | undefined {
  const [start = 0, end = 0] = [runs[0]?.start, runs.at(-1)?.end];
  const likely = Math.round((end - start) / (typicalLength(runs) / loudPart) + 1 - loudPart);
  for (const count of [0, 1, -1, 2, -2, 3].map((more) => likely + more)) {
    const length = (end - start) / (count - 1 + loudPart);
    const first = start - (length * (1 - loudPart)) / 2;
    const read = count >= 3 ? readPulses(samples, { first: first - from, length, count }) : undefined;
    if (!read) continue;
    const msOf = (at: number) => Math.max(0, Math.round((at / sampleRate) * 1000));
    return { ...read, startMs: msOf(first), endMs: msOf(first + count * length) };
  }
  return undefined;
}

interface Grid {
  readonly first: number;
  readonly length: number;
  readonly count: number;
}

function readPulses(samples: Int16Array, { first, length, count }: Grid): Burst | undefined {
  const nibbles: number[] = [];
  for (let index = 0; index < count; index++) {
    const middle = first + (index + 0.5) * length;
    const pulse = readPulse(samples.subarray(Math.round(middle - 0.4 * length), Math.round(middle + 0.4 * length)));
    if (!pulse || (pulse.high === beginning) !== (index === 0)) return undefined;
    nibbles.push(pulse.low * 16 + (pulse.high & 15));
  }
  const [mark = 0, ...bytes] = nibbles;
  const content = Uint8Array.from(bytes.slice(0, -1));
  const flags = mark >> 4;
  if (bytes.at(-1) !== checksum(flags, content)) return undefined;
  try {
    return { text: utf8.decode(content), voice: flags >> 1, isContinued: (flags & 1) === 1 };
  } catch {
    return undefined; // not UTF-8
  }
}

function readPulse(samples: Int16Array): { readonly low: number; readonly high: number } | undefined {
  const low = loudest(samples, lows);
  const high = loudest(samples, highs);
  const energy = samples.reduce((sum, sample) => sum + sample ** 2, 0);
  const purity = (2 * (low.power + high.power)) / (samples.length * energy);
  return purity > minPurity ? { low: low.index, high: high.index } : undefined;
}

function loudest(samples: Int16Array, tones: readonly number[]): { readonly index: number; readonly power: number } {
  const powers = tones.map((hertz) => powerOf(samples, hertz));
  const power = Math.max(...powers);
  return { index: powers.indexOf(power), power };
}

/** The Goertzel algorithm. */
function powerOf(samples: Int16Array, hertz: number): number {
  const factor = 2 * Math.cos(hertz * radians);
  let [last, before] = [0, 0];
  for (const sample of samples) [last, before] = [sample + factor * last - before, last];
  return last ** 2 + before ** 2 - factor * last * before;
}
