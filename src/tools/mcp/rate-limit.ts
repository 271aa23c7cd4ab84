import { setTimeout as wait } from 'node:timers/promises';

/** Rate limit per server; the excess stays in the server's pipe (backpressure). */
const messagesPerSecond = 1_000;

/** Burst allowance, in milliseconds of the rate. */
const burstMs = 100;

/** Returns a function that waits while the count is ahead of the rate. */
export function createRateLimit(): (count: number) => Promise<void> {
  let due = 0;
  return async (count) => {
    const now = performance.now();
    due = Math.max(due, now) + (count / messagesPerSecond) * 1000;
    if (due - now > burstMs) await wait(due - now, undefined, { ref: false });
  };
}
