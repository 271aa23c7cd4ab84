/** How long a run lives: what it has begun ends when it fails and when its caller leaves, not when it has completed. */
import { follow } from '../../lib/abort.ts';

export interface Lifetime {
  /** Aborts with the failure of the run or with the caller's reason to leave; never after `complete`. */
  readonly signal: AbortSignal;
  /**
   * The outcome of the work, or the signal's reason as soon as it aborts, whether or not the work heeds it. One work
   * at a time: all share one listener.
   */
  until<T>(work: PromiseLike<T>): Promise<T>;
  complete(): void;
  fail(reason: unknown): void;
}

export function openLifetime(caller: AbortSignal): Lifetime {
  const controller = new AbortController();
  const { signal } = controller;
  const unfollow = follow(caller, controller);
  let isOpen = true;
  let interrupt: (reason: Error) => void = () => {};
  signal.addEventListener('abort', () => interrupt(signal.reason as Error));
  const complete = () => {
    isOpen = false;
    unfollow();
  };
  return {
    signal,
    until: (work) =>
      new Promise((resolve, reject) => {
        interrupt = reject;
        work.then(resolve, reject);
        if (signal.aborted) reject(signal.reason as Error);
      }),
    complete,
    fail(reason) {
      if (!isOpen) return;
      complete();
      controller.abort(reason);
    },
  };
}
