import type { Availability, ModelEntry } from './models.ts';

/** What every engine has, whatever it can do. The optional methods are abilities that not every engine needs. */
export interface Engine {
  /**
   * The entries it serves now, each id once. Called for every listing and every request: answer from memory. The first
   * call has 10 s, every other one 1 s; when it fails, the last list stands (at first there is none), and it is asked
   * again after 5 s.
   */
  models(): Promise<readonly ModelEntry[]>;
  /**
   * Whether the model can work: free of charge, without side effects, within milliseconds. It has 1 s. When it fails, its
   * last good answer stands for 30 s; after that the model is `engine-failed`, and it is asked again every 5 s. Calls at
   * the same time may share an answer. An `EngineError` with the code `unknown-model` is an answer.
   */
  availability(modelId: string): Promise<Availability>;
  /**
   * Fetches and builds what the engine needs but does not find. Runs in the background of a start, or as `npm run setup`.
   * The message of what it throws is shown at the terminal. After an abort it has 5 s to end.
   */
  prepare?(call: PrepareCall): Promise<void>;
  /** What was found on this machine and what is missing, for `npm run doctor`. It has 30 s. */
  inspect?(): Promise<readonly Finding[]>;
  /** Ends whatever the engine still runs. It has 5 s. */
  [Symbol.asyncDispose]?(): Promise<void>;
}

export interface PrepareCall {
  readonly signal: AbortSignal;
  /** `fraction` runs from 0 to 1; it is null while the size of the work is not known. */
  readonly progress: (step: string, fraction: number | null) => void;
}

export interface Finding {
  readonly what: string;
  readonly ok: boolean;
  /** The version and place of what was found, or what is wrong. */
  readonly detail: string;
  /** The command that fixes it, or what to do. */
  readonly fix?: string;
}
