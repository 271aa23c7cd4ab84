/** Deadlines of one length for many waits, behind one timer: nearly every wait ends at once, and would pay for its own. */
import { AsyncLocalStorage } from 'node:async_hooks';

export interface Wait {
  readonly until: number;
  readonly late: () => void;
}

export class SharedDeadline {
  readonly #ms: number;
  /** Oldest first, since all last equally long. */
  readonly #waits = new Set<Wait>();
  #timer: NodeJS.Timeout | undefined;
  /** The timer outlives the request that starts it, and must not keep it in memory. */
  readonly #outside = AsyncLocalStorage.snapshot();

  constructor(ms: number) {
    this.#ms = ms;
  }

  /** Calls `late` once, unless the wait ends before. */
  begin(late: () => void): Wait {
    const wait = { until: performance.now() + this.#ms, late };
    if (this.#waits.size === 0) this.#timer?.ref();
    this.#waits.add(wait);
    this.#timer ??= this.#arm(this.#ms);
    return wait;
  }

  end(wait: Wait): void {
    // The timer runs on for the waits to come, but keeps no process alive.
    if (this.#waits.delete(wait) && this.#waits.size === 0) this.#timer?.unref();
  }

  #arm(ms: number): NodeJS.Timeout {
    // After a step of the event loop: answers that arrived while the process was busy are in time.
    return this.#outside(() => setTimeout(() => setImmediate(() => this.#expire()), ms));
  }

  #expire(): void {
    this.#timer = undefined;
    const now = performance.now();
    for (const wait of this.#waits) {
      if (wait.until > now) {
        this.#timer = this.#arm(wait.until - now);
        return;
      }
      this.#waits.delete(wait);
      wait.late();
    }
  }
}
