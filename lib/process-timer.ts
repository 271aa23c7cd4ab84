/** Timeouts that tolerate a busy machine. */

const steps = 25;

/**
 * Calls `then` after `ms` of this process's own time, unless disposed earlier. A step that takes longer because the
 * process did not run still counts as one step: what has arrived in the meantime is read before the next one.
 */
export function afterMs(ms: number, then: () => void): Disposable {
  let left = steps;
  const timer = setInterval(() => {
    left -= 1;
    if (left > 0) return;
    clearInterval(timer);
    then();
  }, ms / steps);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
