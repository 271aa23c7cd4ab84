/**
 * The vocabulary of cancellation, for the whole house: a linked signal, a timeout, a race, an abortable iteration.
 *
 * AbortSignal.any and AbortSignal.timeout are not used for requests: they keep every finished request in memory as long
 * as the signals that they come from.
 */
import { setTimeout as wait } from 'node:timers/promises';

/** A signal that aborts with its parents. Dispose of it when the work is done: it listens to them until then. */
export interface LinkedSignal extends Disposable {
  readonly signal: AbortSignal;
  /** Ends the work before the parents do. */
  readonly abort: (reason: unknown) => void;
  /** As `raceAbort` with this signal, for one work at a time: all of them share a listener. */
  race<T>(work: PromiseLike<T>): Promise<T>;
  /** The same; after so many milliseconds the signal aborts with `late()`. */
  within<T>(ms: number, late: () => unknown, work: PromiseLike<T>): Promise<T>;
}

/** Aborted at once when a parent is. */
export function linkedSignal(...parents: readonly AbortSignal[]): LinkedSignal {
  const controller = new AbortController();
  const { signal } = controller;
  const abort = (reason: unknown) => controller.abort(reason);
  const unlinks = parents.map((parent) => onAbort(parent, abort));
  let interrupt: ((reason: Error) => void) | undefined;
  function race<T>(work: PromiseLike<T>): Promise<T> {
    if (interrupt === undefined) signal.addEventListener('abort', () => interrupt?.(signal.reason as Error));
    return new Promise((resolve, reject) => {
      interrupt = reject;
      work.then(resolve, reject);
      if (signal.aborted) reject(signal.reason as Error);
    });
  }
  return {
    signal,
    abort,
    race,
    async within(ms, late, work) {
      const timer = setTimeout(() => abort(late()), ms);
      try {
        return await race(work);
      } finally {
        clearTimeout(timer);
      }
    },
    [Symbol.dispose]() {
      for (const unlink of unlinks) unlink();
    },
  };
}

export interface Timeout extends Disposable {
  readonly signal: AbortSignal;
}

/**
 * A signal that aborts with its parent, and with `late()` after so many milliseconds. Dispose of it when the work is done.
 * Throws the reason of a parent that has aborted: the work must not begin.
 */
export function startTimeout(ms: number, late: () => unknown, ...parents: readonly AbortSignal[]): Timeout {
  for (const parent of parents) parent.throwIfAborted();
  const link = linkedSignal(...parents);
  const timer = setTimeout(() => link.abort(late()), ms);
  return {
    signal: link.signal,
    [Symbol.dispose]() {
      clearTimeout(timer);
      link[Symbol.dispose]();
    },
  };
}

/** Calls the listener once, with the reason: when the signal aborts, or at once if it has. Returns what takes it off. */
export function onAbort(signal: AbortSignal, listener: (reason: unknown) => void): () => void {
  const called = () => listener(signal.reason);
  if (signal.aborted) called();
  else signal.addEventListener('abort', called, { once: true });
  return () => signal.removeEventListener('abort', called);
}

/** The outcome of the work, or the signal's reason as soon as it aborts, whether or not the work heeds it. */
export function raceAbort<T>(work: PromiseLike<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const off = onAbort(signal, reject);
    work.then(
      (value) => (off(), resolve(value)),
      (error: unknown) => (off(), reject(error as Error)),
    );
  });
}

/** Rejects with the signal's reason. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => undefined);
  signal.throwIfAborted();
}

/**
 * The items of a source that is opened at the first `next()`. An abort of the parent rejects the `next()` that waits, or
 * the following one, with the signal's reason. The source's signal aborts with the parent, when the source fails, and at
 * `return()`: a generator alone would see that only at its next `yield`. Nobody waits until the source has ended. After
 * an item for which `isLast` is true nothing is aborted any more. One `next()` at a time.
 */
export function abortable<T>(
  open: (signal: AbortSignal) => AsyncIterable<T>,
  parent: AbortSignal,
  isLast: (item: T) => boolean = () => false,
): AsyncIterableIterator<T, undefined> {
  const link = linkedSignal(parent);
  let source: AsyncIterator<T> | undefined;
  let waiting: PromiseWithResolvers<IteratorResult<T, undefined>> | undefined;
  /** An abort between two calls of `next()`. */
  let unread: { readonly reason: Error } | undefined;
  let isLinked = true;
  let isOver = false;

  function unlink(): void {
    isLinked = false;
    link[Symbol.dispose]();
  }

  /** The signal first: a source that waits for something only ends when that does. */
  function leave(reason: unknown): void {
    isOver = true;
    link[Symbol.dispose]();
    if (isLinked) link.abort(reason);
    source?.return?.().then(ignore, ignore);
  }

  function takeReader(): typeof waiting {
    const reader = waiting;
    waiting = undefined;
    return reader;
  }

  function fail(reason: unknown): void {
    if (isOver) return;
    const reader = takeReader();
    if (reader) reader.reject(reason);
    else unread = { reason: reason as Error };
    leave(reason);
  }

  function take(result: IteratorResult<T>): void {
    if (isOver) return;
    if (result.done) {
      isOver = true;
      unlink();
      takeReader()?.resolve(done);
    } else {
      if (isLast(result.value)) unlink();
      takeReader()?.resolve(result);
    }
  }

  onAbort(link.signal, fail);
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next() {
      if (unread) {
        const { reason } = unread;
        unread = undefined;
        return Promise.reject(reason);
      }
      if (isOver) return Promise.resolve(done);
      waiting = Promise.withResolvers();
      const { promise } = waiting;
      try {
        source ??= open(link.signal)[Symbol.asyncIterator]();
        source.next().then(take, fail);
      } catch (error) {
        fail(error);
      }
      return promise;
    },
    return() {
      if (!isOver) {
        takeReader()?.resolve(done);
        leave(readerLeft);
      }
      return Promise.resolve(done);
    },
  };
}

const done = { done: true, value: undefined } as const;
const readerLeft = new Error('the reader has left');

function ignore(): void {
  // The reader has got the reason already.
}
