/** A question that an engine answers again and again: what it last said, and whether it still says anything. */
import { Wait, type SharedDeadline } from './shared-deadline.ts';

export interface QuestionOptions<T> {
  readonly ask: () => unknown;
  /** Throws when the answer is not allowed. */
  readonly check: (answer: unknown, last: T | undefined) => T;
  /** For the very first time that it is asked, and for every other. */
  readonly deadlines: { readonly first: SharedDeadline; readonly usual: SharedDeadline };
  /** The pause after a failure. */
  readonly retryMs: number;
  /** What stands for an answer that did not come in time. */
  readonly late: () => Error;
  /** Called when answers begin to fail, and with undefined when they are good again. */
  readonly onChange: (failure: Failure | undefined) => void;
}

export interface Failure {
  readonly error: unknown;
  /** When the first of these failures happened. */
  readonly since: number;
}

const settled = Promise.resolve();

export class Question<T> {
  readonly #options: QuestionOptions<T>;
  #value: T | undefined;
  #failure: Failure | undefined;
  #retryAt = 0;
  #pending: Promise<void> | undefined;
  #asked = 0;
  /** The number of the last question whose answer was good: a late one must not replace a newer one. */
  #answered = 0;

  constructor(options: QuestionOptions<T>) {
    this.#options = options;
  }

  /** The last good answer. */
  get value(): T | undefined {
    return this.#value;
  }

  /** Set while it fails. */
  get failure(): Failure | undefined {
    return this.#failure;
  }

  /** Asks, together with all who ask meanwhile, and resolves at the latest after the deadline. Never rejects. */
  ask(): Promise<void> {
    if (this.#pending !== undefined) return this.#pending;
    if (this.#failure !== undefined && performance.now() < this.#retryAt) return settled;
    this.#pending = this.#ask();
    return this.#pending;
  }

  #ask(): Promise<void> {
    const { ask, deadlines, late } = this.#options;
    const deadline = this.#asked === 0 ? deadlines.first : deadlines.usual;
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
      invoke(ask).then(
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

  /** An answer that is late is taken, but only one in time ends a failure. */
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

/** A call of an engine's code: what it throws at once, and what its own kind of promise does, becomes a rejection. */
export async function invoke(work: () => unknown): Promise<unknown> {
  return await work();
}
