/**
 * A worker's back-off after its own failures, such as a full disk or a program that always fails. Without it, a worker
 * that fails immediately would take one ticket after another while the healthy workers are busy.
 */
import type { FleetTimeouts } from './timeouts.ts';

/** Outcome of a call on this worker: it completed, its engine failed, or the worker returned the call to the front. */
export type CallEnd = 'done' | 'failed' | 'returned';

/** The returned function returns the pause after a call in milliseconds. The pause doubles until a call is done. */
export function createBackOff({
  pauseMs,
  maxPauseMs,
}: Pick<FleetTimeouts, 'pauseMs' | 'maxPauseMs'>): (end: CallEnd) => number {
  let ends: CallEnd[] = [];
  return (end) => {
    ends = end === 'done' ? [] : [...ends, end];
    // The recording may have caused a single failure of an engine.
    const pauses = ends.length - (ends[0] === 'failed' ? 1 : 0);
    return pauses === 0 ? 0 : Math.min(maxPauseMs, pauseMs * 2 ** (pauses - 1));
  };
}
