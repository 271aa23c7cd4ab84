import { describe, expect, test } from 'vitest';
import { Resampler } from '../../src/audio/resample.ts';

const to = 16_000;
const rates = [8_000, 22_050, 44_100, 48_000, 96_000];
/** Shares no divisor with 16,000 Hz, so that the phases are rounded. */
const oddRates = [11_111, 44_101];

describe.each([...rates, ...oddRates])('from %i Hz', (rate) => {
  test.each([100, 1_000, 0.84 * Math.min(rate / 2, to / 2)])('keeps a tone of %i Hz, and adds nothing to it', (hz) => {
    const { gainDb, restDb } = analyze(resample(tone(hz, rate), rate), hz);
    expect(Math.abs(gainDb)).toBeLessThan(0.5);
    expect(restDb).toBeLessThan(-60);
  });

  test('outputs the exact number of samples', () => {
    for (const length of [0, 1, 2, 159, 160, 161, rate - 1, rate, 3 * rate + 7]) {
      expect(resample(new Float32Array(length), rate)).toHaveLength(Math.ceil((length * to) / rate));
    }
  });

  test('does not depend on the block sizes', () => {
    const input = tone(440, rate);
    const whole = bytesOf(resample(input, rate));
    for (const blockLength of [1, 7, 320, 4_096]) {
      expect(bytesOf(resample(input, rate, blockLength)).equals(whole), `blocks of ${blockLength}`).toBe(true);
    }
  });
});

describe.each(rates.filter((rate) => rate > to))('from %i Hz', (rate) => {
  test.each([8_010, 9_000, 12_000, 0.49 * rate].filter((hz) => hz < rate / 2))('suppresses a tone of %i Hz', (hz) => {
    expect(powerDb(middle(resample(tone(hz, rate), rate)))).toBeLessThan(-60);
  });
});

/** One second at full scale. */
function tone(hz: number, rate: number): Float32Array {
  return Float32Array.from({ length: rate }, (_, i) => Math.sin((2 * Math.PI * hz * i) / rate));
}

function resample(input: Float32Array, from: number, blockLength = input.length): Float32Array {
  const resampler = new Resampler(from, to);
  const output: number[] = [];
  for (let start = 0; start < input.length; start += blockLength) {
    output.push(...resampler.push(input.subarray(start, start + blockLength)));
  }
  return Float32Array.from([...output, ...resampler.flush()]);
}

const bytesOf = ({ buffer }: Float32Array) => Buffer.from(buffer);

/** How loud the tone is in there, and how loud all the rest, both against a tone at full scale. */
function analyze(output: Float32Array, hz: number): { gainDb: number; restDb: number } {
  const samples = middle(output);
  const wave = (shape: (x: number) => number): Float32Array =>
    samples.map((_, i) => shape((2 * Math.PI * hz * i) / to));
  const [sine, cosine] = [wave(Math.sin), wave(Math.cos)];
  const [a, b] = [(2 * dot(samples, sine)) / samples.length, (2 * dot(samples, cosine)) / samples.length];
  const rest = samples.map((sample, i) => sample - a * sine[i]! - b * cosine[i]!);
  return { gainDb: 20 * Math.log10(Math.hypot(a, b)), restDb: powerDb(rest) };
}

/** Half a second, without the tone's beginning and end: whole periods of any whole number of 2 Hz. */
function middle(output: Float32Array): Float32Array {
  return output.slice(to / 4, (3 * to) / 4);
}

function powerDb(samples: Float32Array): number {
  return 10 * Math.log10((2 * dot(samples, samples)) / samples.length);
}

function dot(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, i) => sum + value * b[i]!, 0);
}
