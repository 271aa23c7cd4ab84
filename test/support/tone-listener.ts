/** Recognizes which tokens of a voice of voice-model.ts were spoken. */
import { tokens, type VoiceKind } from './voice-model.ts';

export interface RecognizedTone {
  /** '�' where the tone is not one of the voice's. */
  readonly symbol: string;
  readonly startMs: number;
  readonly ms: number;
}

interface Sound {
  readonly rate: number;
  readonly samples: Float32Array;
}

/** The tones of a WAV file of mono 16 bits, in order: one speaker, no noise, not below 16 kHz. */
export function listen(wav: Buffer, kind: VoiceKind = 'characters'): RecognizedTone[] {
  const { rate, samples } = readWav(wav);
  const known = tokens[kind].filter(({ hz }) => hz > 0);
  return bursts(samples, rate).map(([from, to]) => {
    const hz = frequency(samples.subarray(from, to + 1), rate);
    const best = known.reduce((a, b) => (Math.abs(b.hz - hz) < Math.abs(a.hz - hz) ? b : a));
    const symbol = Math.abs(best.hz - hz) < 15 ? best.symbol : '�';
    return { symbol, startMs: Math.round((from * 1000) / rate), ms: Math.round(((to - from) * 1000) / rate) };
  });
}

/** The tokens that were spoken, as a text. */
export const recognize = (wav: Buffer, kind?: VoiceKind): string =>
  listen(wav, kind)
    .map(({ symbol }) => symbol)
    .join('');

export function secondsOf(wav: Buffer): number {
  const { rate, samples } = readWav(wav);
  return samples.length / rate;
}

/** How loud a frequency is in a WAV file, from 0 to 1 (Goertzel). */
export function loudness(wav: Buffer, hz: number): number {
  const { rate, samples } = readWav(wav);
  const turn = (2 * Math.PI * hz) / rate;
  const [real, imaginary] = samples.reduce(
    ([re, im], sample, i) => [re + sample * Math.cos(turn * i), im + sample * Math.sin(turn * i)] as const,
    [0, 0] as readonly [number, number],
  );
  return (2 * Math.hypot(real, imaginary)) / samples.length;
}

/** From the first to the last loud sample of each sound; 8 ms of silence end one. */
function bursts(samples: Float32Array, rate: number): [from: number, to: number][] {
  const [quiet, gap] = [0.02, Math.round(0.008 * rate)];
  const found: [number, number][] = [];
  samples.forEach((sample, at) => {
    if (Math.abs(sample) < quiet) return;
    const last = found.at(-1);
    if (last && at - last[1] <= gap) last[1] = at;
    else found.push([at, at]);
  });
  return found;
}

/** By its rising zero crossings, interpolated: their distance is one period. */
export function frequency(samples: Float32Array, rate: number): number {
  const crossings: number[] = [];
  for (let i = 1; i < samples.length; i++) {
    const [before, after] = [samples[i - 1]!, samples[i]!];
    if (before < 0 && after >= 0) crossings.push(i - after / (after - before));
  }
  const periods = crossings.length - 1;
  return periods > 0 ? (periods * rate) / (crossings.at(-1)! - crossings[0]!) : 0;
}

export function readWav(wav: Buffer): Sound {
  let at = 12;
  while (wav.toString('latin1', at, at + 4) !== 'data') at += 8 + wav.readUInt32LE(at + 4);
  const length = Math.min(wav.readUInt32LE(at + 4), wav.length - at - 8) >> 1;
  const samples = Float32Array.from({ length }, (_, i) => wav.readInt16LE(at + 8 + 2 * i) / 32_768);
  return { rate: wav.readUInt32LE(24), samples };
}
