/**
 * Cancellation: a linked signal, a timeout, a race, an abortable iteration.
 *
 * AbortSignal.any and AbortSignal.timeout are not used for requests: they keep every finished request in memory for as
 * long as their source signals live.
 */
import { ignore } from './errors.ts';

/** Aborts immediately if a parent has already aborted. */
export function linkedSignal(...parents: readonly AbortSignal[]): LinkedSignal {
  return new LinkedSignal(parents);
}

/**
 * A signal that aborts with its parents. Dispose of it when the work is done: it listens to them until then. A class
 * instead of closures, because every live stream holds several.
 */
export class LinkedSignal implements Disposable {
  readonly #controller = new AbortController();
  readonly #parents: readonly AbortSignal[];
  #interrupt: ((reason: Error) => void) | undefined;

  constructor(parents: readonly AbortSignal[]) {
    this.#parents = parents;
    for (const parent of parents) {
      if (parent.aborted) this.abort(parent.reason);
      else parent.addEventListener('abort', this.#follow, { once: true });
    }
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Aborts this signal, but not its parents. */
  abort(reason: unknown): void {
    this.#controller.abort(reason);
  }

  /** Disposes, then aborts: the signal is no longer linked when its listeners run. */
  end(reason: unknown): void {
    this[Symbol.dispose]();
    this.abort(reason);
  }

  /** Like `raceAbort` with this signal, for one promise at a time: all promises share one listener. */
  race<T>(work: PromiseLike<T>): Promise<T> {
    const { signal } = this;
    if (this.#interrupt === undefined) signal.addEventListener('abort', () => this.#interrupt?.(reasonOf(signal)));
    return new Promise((resolve, reject) => {
      this.#interrupt = reject;
      work.then(resolve, reject);
      if (signal.aborted) reject(reasonOf(signal));
    });
  }

  /** Like `race`. Aborts the signal with `late()` if the work takes longer than `ms` milliseconds. */
  async within<T>(ms: number, late: () => unknown, work: PromiseLike<T>): Promise<T> {
    const timer = startTimer(() => this.abort(late()), ms);
    try {
      return await this.race(work);
    } finally {
      clearTimeout(timer);
    }
  }

  [Symbol.dispose](): void {
    for (const parent of this.#parents) parent.removeEventListener('abort', this.#follow);
  }

  readonly #follow = ({ target }: Event): void => this.abort((target as AbortSignal).reason);
}

/**
 * A signal that aborts with its parents, and with `late()` after `ms` milliseconds. If `ms` is a function, it is called
 * again at the timeout: a larger value extends it. Dispose of it when the work is done. Throws the reason of a parent
 * that has already aborted: the work must not begin.
 */
export function startTimeout(
  ms: number | (() => number),
  late: () => unknown,
  ...parents: readonly AbortSignal[]
): LinkedSignal {
  for (const parent of parents) parent.throwIfAborted();
  return new TimedLink(ms, late, parents);
}

class TimedLink extends LinkedSignal {
  readonly #ms: number | (() => number);
  readonly #late: () => unknown;
  #timer: NodeJS.Timeout;
  #passed: number;
  #turn: NodeJS.Immediate | undefined;

  constructor(ms: number | (() => number), late: () => unknown, parents: readonly AbortSignal[]) {
    super(parents);
    this.#ms = ms;
    this.#late = late;
    this.#passed = valueOf(ms);
    this.#timer = startTimer(this.#expire, this.#passed);
  }

  override [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#turn);
    super[Symbol.dispose]();
  }

  readonly #expire = (): void => {
    const more = valueOf(this.#ms) - this.#passed;
    if (more > 0) {
      this.#passed += more;
      this.#timer = startTimer(this.#expire, more);
    } else {
      // Fires one turn of the event loop later: data that arrived while the process was busy counts as in time.
      this.#turn = setImmediate(() => this.abort(this.#late()));
    }
  };
}

function valueOf(ms: number | (() => number)): number {
  return typeof ms === 'number' ? ms : ms();
}

/** The reason of an aborted signal. In this codebase, it is always an error. */
export function reasonOf({ reason }: AbortSignal): Error {
  return reason as Error;
}

/**
 * Calls the listener once with the reason: when the signal aborts, or immediately if it has already aborted. Returns a
 * function that removes the listener.
 */
export function onAbort(signal: AbortSignal, listener: (reason: unknown) => void): () => void {
  const called = () => listener(signal.reason);
  if (signal.aborted) called();
  else signal.addEventListener('abort', called, { once: true });
  return () => signal.removeEventListener('abort', called);
}

/**
 * Settles as the promise does, or rejects with the signal's reason as soon as it aborts, even if the work ignores the
 * signal.
 */
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
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const off = signal && onAbort(signal, () => (clearTimeout(timer), reject(reasonOf(signal))));
    const timer = startTimer(() => (off?.(), resolve()), ms);
  });
}

/**
 * Yields the items of a source that is opened by the first `next()`. An abort of the parent rejects the pending
 * `next()`, or the following one, with the parent's reason. The source's signal aborts with the parent, when the source
 * fails, and at `return()`: a generator alone would notice only at its next `yield`. Nothing waits for the source to
 * end. After an item for which `isLast` is true, nothing is aborted anymore. One `next()` at a time.
 */
export function abortable<T>(
  open: (signal: AbortSignal) => AsyncIterable<T>,
  parent: AbortSignal,
  isLast: (item: T) => boolean = () => false,
): AsyncIterableIterator<T, undefined> {
  return new AbortableIterator(open, parent, isLast);
}

/** Does not use `LinkedSignal`, whose signal would need its own listener. */
class AbortableIterator<T> implements AsyncIterableIterator<T, undefined> {
  readonly #open: (signal: AbortSignal) => AsyncIterable<T>;
  readonly #isLast: (item: T) => boolean;
  readonly #parent: AbortSignal;
  readonly #controller = new AbortController();
  #source: AsyncIterator<T> | undefined;
  #waiting: PromiseWithResolvers<IteratorResult<T, undefined>> | undefined;
  /** The reason of an abort between two calls of `next()`. */
  #unread: { readonly reason: Error } | undefined;
  #isLinked = true;
  #isOver = false;

  constructor(open: (signal: AbortSignal) => AsyncIterable<T>, parent: AbortSignal, isLast: (item: T) => boolean) {
    this.#open = open;
    this.#isLast = isLast;
    this.#parent = parent;
    if (parent.aborted) this.#follow();
    else parent.addEventListener('abort', this.#follow, { once: true });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<T, undefined>> {
    if (this.#unread) {
      const { reason } = this.#unread;
      this.#unread = undefined;
      return Promise.reject(reason);
    }
    if (this.#isOver) return Promise.resolve(done);
    this.#waiting = Promise.withResolvers();
    const { promise } = this.#waiting;
    try {
      this.#source ??= this.#open(this.#controller.signal)[Symbol.asyncIterator]();
      this.#source.next().then(this.#take, this.#fail);
    } catch (error) {
      this.#fail(error);
    }
    return promise;
  }

  return(): Promise<IteratorReturnResult<undefined>> {
    if (!this.#isOver) {
      this.#takeReader()?.resolve(done);
      this.#leave(readerLeft);
    }
    return Promise.resolve(done);
  }

  readonly #take = (result: IteratorResult<T>): void => {
    if (this.#isOver) return;
    if (result.done) {
      this.#isOver = true;
      this.#unlink();
      this.#takeReader()?.resolve(done);
    } else {
      if (this.#isLast(result.value)) this.#unlink();
      this.#takeReader()?.resolve(result);
    }
  };

  readonly #fail = (reason: unknown): void => {
    if (this.#isOver) return;
    const reader = this.#takeReader();
    if (reader) reader.reject(reason);
    else this.#unread = { reason: reason as Error };
    this.#leave(reason);
  };

  readonly #follow = (): void => this.#fail(this.#parent.reason);

  #takeReader(): PromiseWithResolvers<IteratorResult<T, undefined>> | undefined {
    const reader = this.#waiting;
    this.#waiting = undefined;
    return reader;
  }

  #unlink(): void {
    this.#isLinked = false;
    this.#parent.removeEventListener('abort', this.#follow);
  }

  /** Aborts the signal first, because a source that is waiting ends only then. */
  #leave(reason: unknown): void {
    this.#isOver = true;
    this.#parent.removeEventListener('abort', this.#follow);
    if (this.#isLinked) this.#controller.abort(reason);
    this.#source?.return?.().then(ignore, ignore); // the reader has the reason already
  }
}

const done = { done: true, value: undefined } as const;
const readerLeft = new Error('the reader has stopped');

/**
 * Longest delay of a timer (24.8 days). With a longer delay, Node.js fires the timer immediately and prints a warning.
 */
const maxMs = 2 ** 31 - 1;

/** Like `setTimeout`, for a delay of any length, including `Infinity`. */
export function startTimer(callback: () => void, ms: number): NodeJS.Timeout {
  if (!(ms > maxMs)) return setTimeout(callback, ms);
  let turns = Math.ceil(Math.min(ms, Number.MAX_SAFE_INTEGER) / maxMs);
  const timer = setTimeout(
    () => {
      turns -= 1;
      if (turns > 0) timer.refresh();
      else callback();
    },
    Math.min(maxMs, ms / turns),
  );
  return timer;
}
