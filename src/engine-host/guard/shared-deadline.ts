/** Deadlines of one length for many waits, behind one timer: nearly every wait ends at once, and would pay for its own. */
import { AsyncLocalStorage } from 'node:async_hooks';

/** One wait at a time; it can be begun again once it has ended. */
export class Wait {
  readonly late: () => void;
  until = 0;
  isOn = false;
  /** Its neighbours in the list while it lasts. */
  older: Wait | undefined;
  newer: Wait | undefined;

  /** `late` is called when a wait was not ended in time. */
  constructor(late: () => void) {
    this.late = late;
  }
}

/**
 * The waits are a linked list, oldest first, since all last equally long. (A Set leaves tables behind with what it has
 * forgotten, and the collector takes them for alive for a while, with all that belongs to the requests.)
 */
export class SharedDeadline {
  readonly #ms: number;
  #oldest: Wait | undefined;
  #newest: Wait | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** The timer outlives the request that starts it, and must not keep it in memory. */
  readonly #outside = AsyncLocalStorage.snapshot();

  constructor(ms: number) {
    this.#ms = ms;
  }

  /** Calls `late` of the wait once, unless it ends before. */
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
    // The timer runs on for the waits to come, but keeps no process alive.
    if (!this.#oldest) this.#timer?.unref();
  }

  #arm(ms: number): NodeJS.Timeout {
    // After a step of the event loop: answers that arrived while the process was busy are in time.
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
