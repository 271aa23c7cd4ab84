/** Lists and starts installations for the API. */
import type { Logger } from '../../../engines/contract/index.ts';
import { shorten } from '../../../lib/text.ts';
import { nameSetup } from '../../../lib/setup-command.ts';
import { ignore } from '../../../lib/errors.ts';
import type { Schemas } from '../../contract/operations.ts';
import { ProblemError } from '../../contract/problems.ts';
import { requireSpace } from '../../system/disk-space.ts';
import type { Assets } from './assets.ts';
import type { GroupStatus } from './group-status.ts';

type Preparation = Schemas['Preparation'];

/** Maximum length of a reason in characters, because npm's messages have many lines. */
const maxReasonLength = 2_000;

export interface PreparationsOptions {
  readonly assets: Assets;
  readonly log: Logger;
  readonly dataDir: string;
  /** Memory that models may use, in bytes. */
  readonly memory: number;
}

interface Started {
  readonly id: string;
  /** Resolves when the state of the group has changed to `preparing`. */
  readonly begun: Promise<undefined>;
}

/** Runs one installation at a time. The automatic installation at startup does not count. */
export class Preparations implements AsyncDisposable {
  /** Memory that models may use, in bytes. */
  readonly memory: number;
  readonly #assets: Assets;
  readonly #log: Logger;
  readonly #dataDir: string;
  readonly #ended = new AbortController();
  #started: Started | undefined;
  readonly #running = new Set<Promise<void>>();

  constructor({ assets, log, dataDir, memory }: PreparationsOptions) {
    this.memory = memory;
    this.#assets = assets;
    this.#log = log;
    this.#dataDir = dataDir;
  }

  async list(): Promise<Preparation[]> {
    const groups = await this.#assets.list();
    return groups.filter(({ isIncluded }) => !isIncluded).map(toEntry);
  }

  /**
   * Resolves with the state of the group; an installation that is complete or in progress is not started again. Throws
   * `preparation-not-found`, `preparation-in-progress` and `storage-full`.
   */
  async start(id: string): Promise<Preparation> {
    const found = await this.#find(id);
    if (found.state === 'ready' || found.state === 'preparing') return toEntry(found);
    if (this.#started && this.#started.id !== id) throw inProgress(this.#started.id);
    requireSpace(this.#dataDir, found.bytesLeft);
    this.#started ??= this.#install(id);
    await this.#started.begun;
    return toEntry(await this.#find(id));
  }

  /** Throws `preparation-not-found`. */
  async stop(id: string): Promise<Preparation> {
    await this.#find(id);
    await this.#assets.stop(id);
    if (this.#started?.id === id) this.#started = undefined; // assets that other groups need may continue to be installed
    return toEntry(await this.#find(id));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort(new Error('the service is shutting down'));
    await Promise.all(this.#running);
  }

  async #find(id: string): Promise<GroupStatus> {
    const found = await this.#assets.find(id);
    if (found) return found;
    throw new ProblemError('preparation-not-found', `No preparation "${id}"; GET /preparations lists them.`);
  }

  /** The returned promise never rejects. */
  #install(id: string): Started {
    const begun = Promise.withResolvers<undefined>();
    const done = this.#installAll(id, () => begun.resolve(undefined));
    const started = { id, begun: begun.promise };
    this.#running.add(done);
    void done.finally(() => {
      begun.resolve(undefined);
      this.#running.delete(done);
      if (this.#started === started) this.#started = undefined;
    });
    return started;
  }

  async #installAll(id: string, onBegun: () => void): Promise<void> {
    this.#log.info({ preparation: id }, 'a preparation has started');
    const onFailure = (asset: string, err: Error) =>
      this.#log.warn({ preparation: id, asset, err }, 'a preparation has failed');
    // The error has already been logged, or the service is shutting down.
    await this.#assets
      .install({ id, isExplicit: true }, { signal: this.#ended.signal, onBegun, onFailure })
      .catch(ignore);
    this.#log.info({ preparation: id }, 'a preparation is over');
  }
}

function toEntry({ id, title, purpose, capability, configured, serves, license, ...now }: GroupStatus): Preparation {
  const { bytes, memory, state, progress, reason } = now;
  const facts = { id, title, purpose, capability, configured, model: serves, license, command: nameSetup(id) };
  return { ...facts, bytes, memory_bytes: memory, state, progress, reason: shorten(reason, maxReasonLength) };
}

function inProgress(id: string): ProblemError {
  return new ProblemError('preparation-in-progress', `"${id}" is being prepared; one preparation at a time.`);
}
