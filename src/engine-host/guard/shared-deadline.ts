import { AsyncLocalStorage } from 'node:async_hooks';
import { type Linked, LinkedList } from '../../../lib/linked-list.ts';

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
 * One timer for many timeouts of equal length, of which the oldest expires first. Most waits end quickly, and one timer
 * per wait would be too expensive.
 */
export class SharedDeadline {
  readonly #ms: number;
  readonly #waits = new LinkedList<Wait>();
  #timer: NodeJS.Timeout | undefined;
  /** Captured outside of any request's context: the timer outlives requests and must not keep them in memory. */
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
    // Expires one event loop turn later, so that answers that arrived while the process was busy count as on time.
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
