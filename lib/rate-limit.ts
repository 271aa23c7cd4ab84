import { pause } from './abort.ts';

export interface Rate {
  readonly perSecond: number;
  /** The count that passes without a wait after a sufficiently long pause. */
  readonly burst: number;
}

/**
 * Returns a function that waits while its counts are ahead of the rate, so that the excess stays at its source
 * (backpressure). Rejects with the signal's reason.
 */
export function createRateLimit({ perSecond, burst }: Rate): (count: number, signal?: AbortSignal) => Promise<void> {
  const burstMs = (burst / perSecond) * 1000;
  let due = 0;
  return async (count, signal) => {
    const now = performance.now();
    due = Math.max(due, now) + (count / perSecond) * 1000;
    const aheadMs = due - now - burstMs;
    if (aheadMs > 0) await pause(aheadMs, signal);
  };
}
