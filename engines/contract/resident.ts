/** Programs that stay loaded between calls. */

/**
 * A program that keeps a model in memory and answers questions. Both sides write one JSON object a line, of up to 1 MiB:
 *
 * - to stdin: `{"id":1,...question}`, and `{"cancel":1}` for a question whose caller has gone;
 * - to stdout: `{"ready":true}` once it is loaded; then for each question any number of `{"id":1,...}`, and at the end
 *   `{"id":1,"done":...}` or `{"id":1,"error":"why, for the log"}`.
 *
 * It must end when its stdin closes. It may end instead of confirming a cancellation, if nobody else waits for it: that is no
 * crash. Its working directory is `/`.
 */
export interface ResidentProgram {
  /** Unique in the instance, such as the id of the model. For metrics and the log. */
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
  /** Variables added to the minimal environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Models in the data directory that it keeps open: it is unloaded before one of them is removed. */
  readonly files?: readonly string[];
  /** What identifies the contents of its files. */
  readonly version?: string;
  /** Bytes of memory that it needs, as far as they are known; what a call is seen to use counts from then on. */
  readonly memory: number;
  /** It is unloaded when nobody has asked it anything for so long. 0: never. */
  readonly idleUnloadMs: number;
}

export interface ResidentCall {
  readonly signal: AbortSignal;
  /** Called with each message but the last. If it throws, the call is cancelled and rejects with the error. */
  readonly onMessage?: (message: Readonly<Record<string, unknown>>) => void;
}

export interface Resident {
  readonly state: 'unloaded' | 'loading' | 'loaded';
  /** Whether a call would wait for nobody: it has none, and is loaded or can be without unloading what is at work. */
  readonly isFree: boolean;
  /** Loads it if that makes nobody wait. */
  preload(): void;
  /**
   * Loads the program where it is not, behind those who wait for memory, and resolves with `done`. Rejects with the
   * signal's reason within 250 ms after an abort; with `engine-failed` when the program answers with an error or ends
   * (one that was idle and has answered nobody since is first loaded again and asked once more); with
   * `model-unavailable` for a minute after it has ended by itself three times within a minute, where it needs more than
   * MEMORY_BUDGET, and when it is unloaded or the service stops; with `overloaded` where this machine can start no other
   * program. Do not wait for one program while you hold a call of another: each may wait for the other's memory. A program
   * that does not confirm a cancellation within 100 ms and serves nobody else is killed.
   */
  call(question: Readonly<Record<string, unknown>>, call: ResidentCall): Promise<unknown>;
}
