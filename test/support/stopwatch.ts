import { readFileSync } from 'node:fs';

/**
 * Milliseconds from now on, without those in which this thread was ready and other programs had the processor: a machine
 * that is busy elsewhere is no fault of what is tested. (Field 2 of schedstat, proc(5); where there is none, all count.)
 */
export function startStopwatch(): () => number {
  const [started, waitedBefore] = [performance.now(), waitedMs()];
  return () => performance.now() - started - (waitedMs() - waitedBefore);
}

function waitedMs(): number {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ')[1]) / 1e6;
  } catch {
    return 0;
  }
}
