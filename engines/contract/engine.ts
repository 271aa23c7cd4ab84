import type { AssetGroup } from './assets.ts';
import type { ModelEntry } from './models.ts';

/** Members common to all capabilities. Implement the optional ones only where the engine needs them. */
export interface Engine {
  /**
   * The entries that the engine serves when it is created; ids are unique. Pass them to `context.publish` whenever they
   * change: the service uses the published entries for every request, and never asks the engine for new ones.
   */
  readonly models: readonly ModelEntry[];
  /**
   * The assets that can be installed for the engine. The service reads them once, after `create`. An entry lists the
   * assets that it requires in `needs`: while one of them is missing, the service itself sets the availability of the
   * entry. Defaults to none if not specified.
   */
  readonly assets?: readonly AssetGroup[];
  /**
   * Checks again for changes that the engine does not notice by itself, such as a file that somebody installs or
   * removes, and publishes the result. The service calls it every 2 s, after it has installed or removed one of the
   * engine's assets, and after a call that failed as if a model had become unavailable. Calls do not overlap, unless
   * one exceeds the timeout of 10 s. The check must not cost money.
   */
  recheck?(): Promise<void>;
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
   * The command that fixes it, or an instruction. With `ok: true`, what was found works but is probably a mistake: the
   * doctor prints a warning, and so does startup for chat engines.
   */
  readonly fix?: string;
}
