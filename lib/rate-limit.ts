import { pause } from './abort.ts';

export interface Rate {
  readonly perSecond: number;
  /** Passes without a wait, after a pause that is long enough. */
  readonly burst: number;
}

/**
 * Returns a function that waits while its counts are ahead of the rate, so that the excess stays where it comes from
 * (backpressure). It rejects with the reason of the signal.
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
