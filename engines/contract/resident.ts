/** Programs that stay loaded between calls. */

/**
 * A program that keeps a model in memory and answers questions. Both sides write JSON objects, one per line. The
 * program's lines may have up to 1 MiB:
 *
 * - to stdin: `{"id":1,...question}`, and `{"cancel":1}` for a question whose call was aborted;
 * - to stdout: `{"ready":true}` once it is loaded; then for each question any number of `{"id":1,...}`, and at the end
 *   `{"id":1,"done":...}` or `{"id":1,"error":"why, for the log"}`.
 *
 * The program must end when its stdin closes. It may end instead of confirming a cancellation if it has no other
 * question: that does not count as a crash. Its working directory is `/`.
 */
export interface ResidentProgram {
  /** Unique in the instance, such as the id of the model. For metrics and the log. */
  readonly name: string;
  /**
   * Id of the entry that the program serves. The service reports the entry as `loading` while the program loads, and as
   * `model-file-missing` for a minute after the program could not be loaded.
   */
  readonly model?: string;
  /**
   * True if the engine can serve `model` without the program: the entry stays usable if the program could not be
   * loaded.
   * @default false
   */
  readonly isOptional?: boolean;
  /** Path of the program, or its name on the PATH. */
  readonly program: string;
  readonly args: readonly string[];
  /** Variables added to the minimal environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Model files in the data directory that the program keeps open: it is unloaded before one of them is removed. */
  readonly files?: readonly string[];
  /** Identifies the contents of `files`: a program with another version replaces this one. */
  readonly version?: string;
  /**
   * Matches what a library prints to stderr when it hides a failure from the program. A match ends a program that is
   * loading. Later, each call in progress receives the message `{"failure":"the match"}` before the call ends.
   */
  readonly failure?: RegExp;
  /**
   * Estimated memory in bytes. After each successful call, the measured peak replaces it where the system reports one.
   */
  readonly memory: number;
  /** Milliseconds without a call after which the program is unloaded. 0: never. */
  readonly idleUnloadMs: number;
  /**
   * Milliseconds that the program may take to confirm a cancellation, for programs that cannot be interrupted at any
   * moment. Its call does not wait for that, and the next one may arrive earlier.
   * @default 100
   */
  readonly confirmMs?: number;
}

/** The second argument of `Resident.call`. */
export interface ResidentCall {
  /** Cancels the question; the call rejects with its reason within 250 ms. */
  readonly signal: AbortSignal;
  /** Called with each message but the last. If it throws, the call is canceled and rejects with the error. */
  readonly onMessage?: (message: Readonly<Record<string, unknown>>) => void;
}

/** A handle of a resident program. */
export interface Resident {
  readonly state: 'unloaded' | 'loading' | 'loaded';
  /**
   * True if a call would not wait for another one: the program has no call, and is loaded, loading, or can be loaded
   * without unloading a busy program. False during the pause after three crashes.
   */
  readonly isFree: boolean;
  /** Starts to load the program if it is `unloaded` and `isFree`. */
  preload(): void;
  /**
   * Sends a question and resolves with `done`. Loads the program first if necessary, after earlier calls that wait for
   * memory. Rejects with
   * - the signal's reason, within 250 ms after an abort;
   * - `engine-failed` when the program answers with an error or ends (a program that ends on its first question after
   *   an idle time is loaded again and asked once more);
   * - `model-unavailable` when the program needs more than MEMORY_BUDGET, for a minute after it has crashed three times
   *   within a minute, and when it is unloaded, its files are being removed or the service stops;
   * - `overloaded` when this machine cannot start another process.
   *
   * Do not wait for one program while you hold a call of another: each may wait for the other's memory. A program that
   * does not confirm a cancellation within `confirmMs` and has no other call is killed.
   */
  call(question: Readonly<Record<string, unknown>>, call: ResidentCall): Promise<unknown>;
}
