/**
 * Functions that the service passes to an engine. They never throw: in a timer or in a listener of the engine, an
 * exception would end the process. A failure ends the call instead.
 */
import { linkedSignal, type LinkedSignal } from '../../../lib/abort.ts';
import { ignore } from '../../../lib/errors.ts';
import { callFailure } from './failures.ts';

/** Returns a function that calls `work`, and passes what it throws to `fail`. */
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

/** Returns the promise. An engine that does not await it must not cause an unhandled rejection. */
export function markHandled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(ignore); // the engine gets the error from the promise, if it looks
  return promise;
}

/** The callbacks of one call: the first failure aborts its signal. After a failure or the end they do nothing. */
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

  /** The failure that ended the call, even if the engine ignored the abort. */
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
