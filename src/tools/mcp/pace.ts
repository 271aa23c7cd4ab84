import { setTimeout as wait } from 'node:timers/promises';

/** Messages of one server that are read in a second: more would be a flood, and it waits in the server's own pipe. */
const messagesPerSecond = 1_000;

/** So many milliseconds' worth may come at once. */
const burstMs = 100;

/** Waits as long as what has been counted is ahead of its time. */
export function createPace(): (count: number) => Promise<void> {
  let due = 0;
  return async (count) => {
    const now = performance.now();
    due = Math.max(due, now) + (count / messagesPerSecond) * 1000;
    if (due - now > burstMs) await wait(due - now, undefined, { ref: false });
  };
}
