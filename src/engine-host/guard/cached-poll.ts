/** Polls a function of an engine: caches the last valid answer and tracks failures. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { type Linked, LinkedList } from '../../../lib/linked-list.ts';

interface CachedPollOptions<T> {
  readonly poll: () => unknown;
  /** Throws if the answer is invalid. */
  readonly check: (answer: unknown, last: T | undefined) => T;
  /** Timeouts of the first call and of later calls. */
  readonly deadlines: { readonly first: SharedDeadline; readonly later: SharedDeadline };
  /** Retry delay after a failure. */
  readonly retryMs: number;
  /** Creates the error for a timeout. */
  readonly late: () => Error;
  /** Called when answers start to fail, and with undefined when they recover. */
  readonly onChange: (failure: Failure | undefined) => void;
}

export interface Failure {
  readonly error: unknown;
  /** Time of the first failure in a row. */
  readonly since: number;
}

const settled = Promise.resolve();

export class CachedPoll<T> {
  readonly #options: CachedPollOptions<T>;
  #value: T | undefined;
  #failure: Failure | undefined;
  #retryAt = 0;
  #pending: Promise<void> | undefined;
  #asked = 0;
  /** Number of the last call with a valid answer: a late answer must not replace a newer one. */
  #answered = 0;

  constructor(options: CachedPollOptions<T>) {
    this.#options = options;
  }

  /** The last valid answer. */
  get value(): T | undefined {
    return this.#value;
  }

  /** Set while calls fail. */
  get failure(): Failure | undefined {
    return this.#failure;
  }

  /** Concurrent callers share one call. Resolves no later than the timeout; never rejects. */
  refresh(): Promise<void> {
    if (this.#pending !== undefined) return this.#pending;
    if (this.#failure !== undefined && performance.now() < this.#retryAt) return settled;
    this.#pending = this.#poll();
    return this.#pending;
  }

  #poll(): Promise<void> {
    const { poll, deadlines, late } = this.#options;
    const deadline = this.#asked === 0 ? deadlines.first : deadlines.later;
    const number = (this.#asked += 1);
    return new Promise((resolve) => {
      let isLate = false;
      const wait = new Wait(() => {
        isLate = true;
        this.#fail(late());
        end();
      });
      const end = () => {
        deadline.end(wait);
        this.#pending = undefined;
        resolve();
      };
      deadline.begin(wait);
      invoke(poll).then(
        (answer) => {
          this.#take(answer, number, isLate);
          if (!isLate) end();
        },
        (error: unknown) => {
          if (isLate) return;
          this.#fail(error);
          end();
        },
      );
    });
  }

  /** Stores a late answer, but only an answer in time ends a failure. */
  #take(answer: unknown, number: number, isLate: boolean): void {
    if (number < this.#answered) return;
    try {
      this.#value = this.#options.check(answer, this.#value);
      this.#answered = number;
    } catch (error) {
      if (!isLate) this.#fail(error);
      return;
    }
    if (isLate || this.#failure === undefined) return;
    this.#failure = undefined;
    this.#options.onChange(undefined);
  }

  #fail(error: unknown): void {
    const now = performance.now();
    this.#retryAt = now + this.#options.retryMs;
    const isNew = this.#failure === undefined;
    this.#failure = { error, since: this.#failure?.since ?? now };
    if (isNew) this.#options.onChange(this.#failure);
  }
}

/** Calls an engine's code: synchronous exceptions and custom thenables become a native promise. */
export async function invoke<T>(work: () => T | PromiseLike<T>): Promise<T> {
  return await work();
}

/** A single wait; reusable once it has ended. */
export class Wait implements Linked<Wait> {
  readonly late: () => void;
  until = 0;
  isListed = false;
  older: Wait | undefined;
  newer: Wait | undefined;

  /** `late` is called if the wait does not end in time. */
  constructor(late: () => void) {
    this.late = late;
  }
}

/**
 * One timer for many timeouts of equal length, so that the oldest ends first: most waits end quickly, and a timer for each
 * would be too expensive.
 */
export class SharedDeadline {
  readonly #ms: number;
  readonly #waits = new LinkedList<Wait>();
  #timer: NodeJS.Timeout | undefined;
  /** Created outside of the request's context: the timer outlives the request and must not keep it in memory. */
  readonly #outside = AsyncLocalStorage.snapshot();

  constructor(ms: number) {
    this.#ms = ms;
  }

  /** Calls the wait's `late` once, unless the wait ends first. */
  begin(wait: Wait): void {
    wait.until = performance.now() + this.#ms;
    if (this.#waits.size === 0) this.#timer?.ref();
    this.#waits.add(wait);
    this.#timer ??= this.#arm(this.#ms);
  }

  end(wait: Wait): void {
    // The timer keeps running for later waits, but does not keep the process alive.
    if (this.#waits.remove(wait) && this.#waits.size === 0) this.#timer?.unref();
  }

  #arm(ms: number): NodeJS.Timeout {
    // One event loop turn later: answers that arrived while the process was busy count as in time.
    return this.#outside(() => setTimeout(() => setImmediate(() => this.#expire()), ms));
  }

  #expire(): void {
    this.#timer = undefined;
    const now = performance.now();
    for (let wait = this.#waits.oldest; wait; wait = this.#waits.oldest) {
      if (wait.until > now) {
        this.#timer = this.#arm(wait.until - now);
        return;
      }
      this.end(wait);
      wait.late();
    }
  }
}
