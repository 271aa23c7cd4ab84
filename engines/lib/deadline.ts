export interface Deadline extends Disposable {
  readonly signal: AbortSignal;
}

/** A signal that aborts with the caller's, and with `late()` after so many milliseconds. Dispose of it when the work is done. */
export function startDeadline(ms: number, caller: AbortSignal, late: () => Error): Deadline {
  caller.throwIfAborted();
  const controller = new AbortController();
  const leave = () => controller.abort(caller.reason);
  const timer = setTimeout(() => controller.abort(late()), ms);
  caller.addEventListener('abort', leave, { once: true });
  return {
    signal: controller.signal,
    [Symbol.dispose]() {
      clearTimeout(timer);
      caller.removeEventListener('abort', leave);
    },
  };
}
