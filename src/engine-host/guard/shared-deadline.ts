/** One timer for many timeouts of equal length: most waits end quickly, so a timer for each would be too expensive. */
import { AsyncLocalStorage } from 'node:async_hooks';

/** A single wait; reusable once it has ended. */
export class Wait {
  readonly late: () => void;
  until = 0;
  isOn = false;
  /** Neighbors in the list while it is active. */
  older: Wait | undefined;
  newer: Wait | undefined;

  /** `late` is called if the wait does not end in time. */
  constructor(late: () => void) {
    this.late = late;
  }
}

/**
 * The waits form a linked list, oldest first, since all have the same timeout. (A Set keeps old tables with deleted
 * entries, which for a while prevents garbage collection of everything that belongs to the requests.)
 */
export class SharedDeadline {
  readonly #ms: number;
  #oldest: Wait | undefined;
  #newest: Wait | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** The timer outlives the request that starts it, and must not keep that request in memory. */
  readonly #outside = AsyncLocalStorage.snapshot();

  constructor(ms: number) {
    this.#ms = ms;
  }

  /** Calls `late` of the wait once, unless it ends first. */
  begin(wait: Wait): void {
    wait.until = performance.now() + this.#ms;
    wait.isOn = true;
    wait.older = this.#newest;
    if (this.#newest) {
      this.#newest.newer = wait;
    } else {
      this.#oldest = wait;
      this.#timer?.ref();
    }
    this.#newest = wait;
    this.#timer ??= this.#arm(this.#ms);
  }

  end(wait: Wait): void {
    if (!wait.isOn) return;
    wait.isOn = false;
    const { older, newer } = wait;
    if (older) older.newer = newer;
    else this.#oldest = newer;
    if (newer) newer.older = older;
    else this.#newest = older;
    wait.older = wait.newer = undefined;
    // The timer keeps running for later waits, but does not keep the process alive.
    if (!this.#oldest) this.#timer?.unref();
  }

  #arm(ms: number): NodeJS.Timeout {
    // One event loop turn later: answers that arrived while the process was busy count as in time.
    return this.#outside(() => setTimeout(() => setImmediate(() => this.#expire()), ms));
  }

  #expire(): void {
    this.#timer = undefined;
    const now = performance.now();
    for (let wait = this.#oldest; wait; wait = this.#oldest) {
      if (wait.until > now) {
        this.#timer = this.#arm(wait.until - now);
        return;
      }
      this.end(wait);
      wait.late();
    }
  }
}
