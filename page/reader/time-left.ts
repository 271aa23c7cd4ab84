/** Estimates how much longer a transcription will take, from its pace so far. Pure. */

/** The state of an estimate. Times are those of one clock, in milliseconds. */
export interface Estimate {
  /** When the page began to follow the transcription. */
  readonly openedAt: number;
  /** When `from` was reached. */
  readonly since: number;
  /** Share of the recording, 0 to 1. */
  readonly from: number;
}

/** Past events are replayed within this time. */
const replayMs = 1_000;

export const newEstimate = (now: number): Estimate => ({ openedAt: now, since: now, from: 0 });

/** Other recordings come first: the pace is measured from the end of the wait. */
export const wait = (estimate: Estimate, now: number): Estimate => ({ ...estimate, since: now });

/** `leftMs` is undefined until there is a pace. */
export function progress(
  estimate: Estimate,
  done: number,
  now: number,
): { readonly estimate: Estimate; readonly leftMs?: number } {
  if (now - estimate.openedAt < replayMs) return { estimate: { ...estimate, since: now, from: done } };
  const share = done - estimate.from;
  return share > 0 ? { estimate, leftMs: ((now - estimate.since) / share) * (1 - done) } : { estimate };
}
