/**
 * How long a worker takes no tickets after failures of its own making, such as a full disk or a program that always
 * fails: it answers at once, so that it would take one ticket after the other while other workers are busy.
 */
import type { FleetTimeouts } from './timeouts.ts';

/** How a worker has done with a call: it answered, its engine failed, or it handed the call back. */
export type CallEnd = 'done' | 'failed' | 'returned';

/** Returns the pause after a call in milliseconds; it doubles until a call is done. */
export function createBackOff({
  pauseMs,
  longestPauseMs,
}: Pick<FleetTimeouts, 'pauseMs' | 'longestPauseMs'>): (end: CallEnd) => number {
  let ends: CallEnd[] = [];
  return (end) => {
    ends = end === 'done' ? [] : [...ends, end];
    // One failure of an engine may be due to the recording.
    const pauses = ends.length - (ends[0] === 'failed' ? 1 : 0);
    return pauses === 0 ? 0 : Math.min(longestPauseMs, pauseMs * 2 ** (pauses - 1));
  };
}
