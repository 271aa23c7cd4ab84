/**
 * How much of the sound of an answer the client can have played. A client plays sound as soon as it arrives, and without
 * a pause. Times are in milliseconds of a monotonic clock. Pure.
 */
import type { Sound } from './sound-output.ts';

export interface Playing {
  /** When all sound that was sent will have been played. */
  readonly untilMs: number;
  /** Milliseconds of sound since it began to play, without its silence. */
  readonly loudMs: number;
  /** Sum of the power of this sound, for each millisecond. 1 is full scale. */
  readonly energy: number;
}

/** No answer is playing: at the start, and after an interruption, a cancellation or a truncation. */
export const notPlaying: Playing = { untilMs: -Infinity, loudMs: 0, energy: 0 };

/** In decibels. Pauses would lower the mean level. */
const silentDb = -50;
/** The network and the client delay the sound, and therefore its echo. */
const lateMs = 500;

/** Returns the state after more sound has been sent. */
export function play(playing: Playing, { ms, db }: Pick<Sound, 'ms' | 'db'>, now: number): Playing {
  const { untilMs, loudMs, energy } = isPlaying(playing, now) ? playing : { ...notPlaying, untilMs: now };
  const added = db > silentDb ? ms : 0;
  return { untilMs: untilMs + ms, loudMs: loudMs + added, energy: energy + added * 10 ** (db / 10) };
}

export const isPlaying = ({ untilMs }: Pick<Playing, 'untilMs'>, now: number): boolean => now < untilMs;

/**
 * Returns the mean level of the answer that is playing, in decibels relative to full scale. Undefined without an answer,
 * and once also a late echo of it is over.
 */
export function levelOfAnswer({ untilMs, loudMs, energy }: Playing, now: number): number | undefined {
  if (now >= untilMs + lateMs) return undefined;
  return loudMs === 0 ? silentDb : 10 * Math.log10(energy / loudMs);
}

/** Returns the milliseconds of an answer that can have been played; `untilMs` is that after its last sound. */
export function playedMs(sentMs: number, { untilMs }: Pick<Playing, 'untilMs'>, now: number): number {
  return Math.max(0, sentMs - Math.max(0, untilMs - now));
}
