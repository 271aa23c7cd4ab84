/** Waiting for an engine on a machine that may be busy. */

const stepMs = 10;

/**
 * Calls back after so many milliseconds as this process has them, unless it is disposed of before: a step that takes
 * longer, since others have the processor, counts as one. A busy machine breaks no rule.
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
