import type { Availability, ModelEntry } from './models.ts';

/** Methods common to all capabilities. Implement the optional ones only where the engine needs them. */
export interface Engine {
  /**
   * The entries that the engine serves now; ids are unique. Called for every listing and every request, so answer from
   * memory. Timeout: 10 s for the first call, 1 s for later ones. On failure the previous list (initially empty) stays
   * in use, and the service retries after 5 s.
   */
  models(): Promise<readonly ModelEntry[]>;
  /**
   * Whether the model can be used now. Must be free of charge, without side effects, and take milliseconds. Timeout: 1 s.
   * On failure the last good answer is used for 30 s; after that the model is `engine-failed`, and the service retries
   * every 5 s. Concurrent calls may share one answer. Throwing an `EngineError` with the code `unknown-model` is a valid
   * answer.
   */
  availability(modelId: string): Promise<Availability>;
  /**
   * What can be had for this engine, and whether it is there. Timeout: 30 s. Without it, `prepare` runs at every start
   * and with every `npm run setup`.
   */
  preparations?(): Promise<readonly Preparation[]>;
  /**
   * Downloads and builds what the engine needs and did not find. Runs in the background after startup, or in the
   * foreground with `npm run setup`; with `preparations()`, once for each of them that is wanted, also for those that are
   * ready, one after the other. If it throws, the error message is printed to the terminal. After an abort it has
   * 5 s to finish.
   */
  prepare?(call: PrepareCall): Promise<void>;
  /**
   * Removes what `prepare` has downloaded for a model of `preparations()`, after the model has been unloaded. Rejects for a
   * file that somebody else has put there.
   */
  remove?(id: string, call: { readonly signal: AbortSignal }): Promise<void>;
  /** Reports what was found on this machine and what is missing, for `npm run doctor`. Timeout: 30 s. */
  inspect?(): Promise<readonly Finding[]>;
  /** Cleanup at shutdown: ends everything that the engine still runs. Timeout: 5 s. */
  [Symbol.asyncDispose]?(): Promise<void>;
}

/** A part that the operator may ask for by its id: `npm run setup -- voice`. */
export interface Preparation {
  /** Letters, digits, dots, hyphens and underscores; unique in the engine. Engines that share it are prepared together. */
  readonly id: string;
  readonly title: string;
  /** Size of what is downloaded, or null if unknown. */
  readonly bytes: number | null;
  /** How much of it is not on the disk yet. Default: `bytes`. */
  readonly bytesLeft?: number;
  /** Licence of the download, such as `MIT` or `GPL-3.0`. */
  readonly licence: string;
  /** Where it comes from, such as `huggingface.co`; shown before it begins. */
  readonly source?: string;
  readonly state: PreparationState;
  /** The models of the settings need it. Default: a further model or voice. */
  readonly isConfigured?: boolean;
  /** For a single model: its id in requests, once it is there. */
  readonly model?: string;
  /** For a single model that is not served without it: the line for the settings file. */
  readonly settings?: string;
  /** A start prepares it, and so does `npm run setup` without a name. Default: only who names it gets it. */
  readonly atStart?: boolean;
}

export const preparationStates = ['ready', 'preparing', 'missing'] as const;
export type PreparationState = (typeof preparationStates)[number];

export interface PrepareCall {
  /** Which of `preparations()`; absent for an engine without them, and in older services. */
  readonly id?: string;
  readonly signal: AbortSignal;
  /** `fraction` is 0 to 1, or null while the total is unknown. */
  readonly progress: (step: string, fraction: number | null) => void;
  /** The operator has asked for it (`npm run setup`): also for what is not needed, but better to have. */
  readonly isAsked?: boolean;
}

export interface Finding {
  readonly what: string;
  readonly ok: boolean;
  /** It is not there yet, and somebody is at work on it. */
  readonly isPending?: boolean;
  /** Version and path of what was found, or what is wrong. */
  readonly detail: string;
  /** The command that fixes it, or an instruction. */
  readonly fix?: string;
}
