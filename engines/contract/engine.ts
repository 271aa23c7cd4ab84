import type { AssetGroup } from './assets.ts';
import type { Availability, ModelEntry } from './models.ts';

/** Methods common to all capabilities. Implement the optional ones only where the engine needs them. */
export interface Engine {
  /**
   * The entries that the engine serves now; ids are unique. Called for every listing and every request, so answer from
   * memory. Timeout: 10 s for the first call, 1 s for later calls. On failure the previous list (initially empty) stays
   * in use, and the service retries after 5 s.
   */
  models(): Promise<readonly ModelEntry[]>;
  /**
   * Whether the model can be used now. Must be free of charge, without side effects, and take milliseconds. Timeout: 1
   * s. On failure the last good answer is used for 30 s; after that the model is `engine-failed`, and the service
   * retries every 5 s. Concurrent calls may share one answer. Throwing an `EngineError` with the code `unknown-model`
   * is a valid answer.
   */
  availability(modelId: string): Promise<Availability>;
  /**
   * The assets that can be installed for the engine. The service reads them once, after `create`. An entry lists the
   * assets that it requires in `needs`: while one of them is missing, the service reports the availability of the entry
   * itself. Defaults to none if not specified.
   */
  readonly assets?: readonly AssetGroup[];
  /**
   * Reports which programs and files were found on this machine and which are missing, for `npm run doctor`. Timeout:
   * 30 s.
   */
  inspect?(): Promise<readonly Finding[]>;
  /** Cleans up at shutdown: ends everything that the engine still runs. Timeout: 5 s. */
  [Symbol.asyncDispose]?(): Promise<void>;
}

/** A line in the report of `npm run doctor`. */
export interface Finding {
  /** Name of the program, file or service that was looked for, such as `espeak-ng`. */
  readonly what: string;
  /** True if it was found and works. */
  readonly ok: boolean;
  /** Version and path of what was found, or what is wrong. */
  readonly detail: string;
  /**
   * The command that fixes it, or an instruction. With `ok: true`, it works but is probably a mistake: the doctor warns
   * of it, and for chat the start does, too.
   */
  readonly fix?: string;
}
