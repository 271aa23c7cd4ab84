/** Timeouts that tolerate a busy machine. */

const stepMs = 10;

/**
 * Calls `then` after `ms` of this process's own time, unless disposed earlier. A step that takes longer because other
 * processes use the CPU still counts as one step, so that a busy machine does not make the engine appear to break a
 * rule.
 */
export function afterMs(ms: number, then: () => void): Disposable {
  let steps = Math.ceil(ms / stepMs);
  const timer = setInterval(() => {
    steps -= 1;
    if (steps > 0) return;
    clearInterval(timer);
    then();
  }, stepMs);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
