/**
 * How much of the sound of an answer the client can have played. A client plays sound as soon as it arrives, and without
 * a pause. Times are in milliseconds of a monotonic clock. Pure.
 */

export interface Playing {
  /** When all sound that was sent will have been played. */
  readonly untilMs: number;
  /** Level of its loudest 100 ms since it began to play, in decibels relative to full scale. */
  readonly db: number;
}

/** No answer is playing: at the start, and after an interruption, a cancellation or a truncation. */
export const notPlaying: Playing = { untilMs: 0, db: -Infinity };

/** Returns the state after more sound has been sent. */
export function play(playing: Playing, { ms, db }: { readonly ms: number; readonly db: number }, now: number): Playing {
  const { untilMs, db: before } = isPlaying(playing, now) ? playing : { ...notPlaying, untilMs: now };
  return { untilMs: untilMs + ms, db: Math.max(before, db) };
}

export const isPlaying = ({ untilMs }: Playing, now: number): boolean => now < untilMs;

/** Returns the milliseconds of an answer that can have been played; `playing` is the state after its last sound. */
export function playedMs(sentMs: number, { untilMs }: Playing, now: number): number {
  return Math.max(0, sentMs - Math.max(0, untilMs - now));
}
