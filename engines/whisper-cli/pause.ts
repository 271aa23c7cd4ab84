import { setTimeout as delay } from 'node:timers/promises';

/** Waits for `ms` milliseconds; rejects with the signal's own reason as soon as it aborts. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await delay(ms, undefined, { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}
