import { readFileSync } from 'node:fs';

/**
 * Milliseconds from now on, without those in which this thread was ready and other programs had the processor: a machine
 * that is busy elsewhere is no fault of what is tested.
 */
export function startStopwatch(): () => number {
  const [started, waitedBefore] = [performance.now(), waitedMs()];
  return () => performance.now() - started - (waitedMs() - waitedBefore);
}

/**
 * How long a thread, or since its start the main thread of a process, was ready while others had the processor. (Field 2
 * of schedstat, proc(5); 0 where it does not exist.)
 */
export function waitedMs(whose: number | 'thread-self' = 'thread-self'): number {
  try {
    return Number(readFileSync(`/proc/${whose}/schedstat`, 'latin1').split(' ')[1]) / 1e6;
  } catch {
    return 0;
  }
}
