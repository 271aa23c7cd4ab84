/**
 * Functions that the service passes to an engine. They never throw, because an exception in the engine's timers or
 * listeners would end the process. A failure ends the call instead.
 */
import { linkedSignal, type LinkedSignal } from '../../../lib/abort.ts';
import { ignore } from '../../../lib/errors.ts';
import { callFailure } from './failures.ts';

/** Returns a function that calls `work`, and passes any error that it throws to `fail`. */
export function safely<Args extends readonly unknown[]>(
  work: (...args: Args) => unknown,
  fail: (error: unknown) => void,
): (...args: Args) => void {
  return (...args) => {
    try {
      work(...args);
    } catch (error) {
      fail(error);
    }
  };
}

/** Returns the promise, marked as handled: if the engine does not await it, a rejection must not count as unhandled. */
export function markHandled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(ignore); // the engine still receives the error if it awaits the promise
  return promise;
}

/**
 * The callbacks of one call: the first failure aborts the signal of the call. After a failure or the end of the call,
 * they do nothing.
 */
export class Callbacks implements Disposable {
  readonly #instance: string;
  readonly #link: LinkedSignal;
  #failure: Error | undefined;
  #isOver = false;

  constructor(instance: string, signal: AbortSignal) {
    this.#instance = instance;
    this.#link = linkedSignal(signal);
  }

  /** The signal that the engine receives. */
  get signal(): AbortSignal {
    return this.#link.signal;
  }

  guard<Args extends readonly unknown[]>(work: (...args: Args) => unknown): (...args: Args) => void {
    return safely((...args: Args) => {
      if (!this.#isOver) work(...args);
    }, this.#fail);
  }

  /** The failure that ended the call. It is set even if the engine ignored the abort. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    this.#link[Symbol.dispose]();
  }

  readonly #fail = (error: unknown): void => {
    this.#isOver = true;
    this.#failure = callFailure(error, this.#instance);
    this.#link.end(this.#failure);
  };
}
