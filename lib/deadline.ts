/** A signal that follows another. Dispose of it when the work is done: it listens to the caller's until then. */
export interface Follower extends Disposable {
  readonly signal: AbortSignal;
  /** Ends the work before the caller does. */
  abort(reason: Error): void;
}

export function follow(caller: AbortSignal): Follower {
  caller.throwIfAborted();
  const controller = new AbortController();
  const leave = () => controller.abort(caller.reason);
  caller.addEventListener('abort', leave, { once: true });
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    [Symbol.dispose]: () => caller.removeEventListener('abort', leave),
  };
}

export interface Deadline extends Disposable {
  readonly signal: AbortSignal;
}

/** A signal that aborts with the caller's, and with `late()` after so many milliseconds. Dispose of it when the work is done. */
export function startDeadline(ms: number, caller: AbortSignal, late: () => Error): Deadline {
  const follower = follow(caller);
  const timer = setTimeout(() => follower.abort(late()), ms);
  return {
    signal: follower.signal,
    [Symbol.dispose]() {
      clearTimeout(timer);
      follower[Symbol.dispose]();
    },
  };
}
