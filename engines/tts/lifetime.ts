import { follow } from '../../lib/deadline.ts';

/** The time of one synthesis: until its last byte is read, nobody reads any more, or it takes too long. */
export interface Lifetime extends Disposable {
  /** Aborts with the caller's, when something was late, and in the end. */
  readonly signal: AbortSignal;
  /** Waits for work that the signal ends; when it takes longer, everything ends with `late()`. */
  within<T>(ms: number, late: () => Error, work: Promise<T>): Promise<T>;
}

export function startLifetime(caller: AbortSignal): Lifetime {
  const follower = follow(caller);
  return {
    signal: follower.signal,
    async within(ms, late, work) {
      const timer = setTimeout(() => follower.abort(late()), ms);
      try {
        return await work;
      } finally {
        clearTimeout(timer);
      }
    },
    [Symbol.dispose]() {
      follower[Symbol.dispose]();
      follower.abort(new Error('the synthesis is over'));
    },
  };
}
