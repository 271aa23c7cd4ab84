/** What this machine can have, as the API lists it: what the engines say, with what this process is doing about it. */
import type { Logger } from '../../engines/contract/index.ts';
import { shorten } from '../../lib/truncate.ts';
import { nameSetup } from '../../lib/setup-command.ts';
import type { Schemas } from '../contract/operations.ts';
import { ProblemError } from '../contract/problems.ts';
import { requireSpace } from '../system/disk-space.ts';
import { offeredBy, type Offered } from './offered.ts';
import type { Registry } from './registry.ts';

type Entry = Schemas['Preparation'];

/** npm's own words take many lines. */
const longestReason = 2_000;

export interface PreparationsOptions {
  readonly registry: Pick<Registry, 'preparations' | 'prepare' | 'runs'>;
  readonly log: Logger;
  readonly dataDir: string;
}

/** Starts one at a time. What a start of the service prepares unasked does not count. */
export class Preparations implements AsyncDisposable {
  readonly #registry: PreparationsOptions['registry'];
  readonly #log: Logger;
  readonly #dataDir: string;
  readonly #ended = new AbortController();
  #started: { readonly id: string; readonly done: Promise<void> } | undefined;

  constructor({ registry, log, dataDir }: PreparationsOptions) {
    this.#registry = registry;
    this.#log = log;
    this.#dataDir = dataDir;
  }

  async list(): Promise<Entry[]> {
    return (await this.#offered()).map((each) => this.#toEntry(each));
  }

  async #offered(): Promise<Offered[]> {
    const listed = await this.#registry.preparations();
    for (const { instance, failure } of listed) {
      if (failure !== undefined)
        this.#log.warn({ engine: instance, failure }, 'an engine cannot list its preparations');
    }
    return offeredBy(listed);
  }

  /**
   * The state of one that is there or in progress. Throws `preparation-not-found`, `preparation-in-progress` and
   * `storage-full`.
   */
  async start(id: string): Promise<Entry> {
    const found = await this.#find(id);
    const entry = this.#toEntry(found);
    if (entry.state === 'ready' || entry.state === 'preparing') return entry;
    if (this.#started && this.#started.id !== id) throw inProgress(this.#started.id);
    requireSpace(this.#dataDir, found.bytesLeft ?? 0);
    this.#started ??= { id, done: this.#prepare(id) };
    return this.#toEntry(await this.#find(id));
  }

  /** Throws `preparation-not-found`. */
  async stop(id: string): Promise<Entry> {
    await this.#find(id);
    await this.#registry.runs.stop(id);
    if (this.#started?.id === id) await this.#started.done;
    return this.#toEntry(await this.#find(id));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort(new Error('the service is shutting down'));
    await this.#started?.done;
  }

  async #find(id: string): Promise<Offered> {
    const found = (await this.#offered()).find((one) => one.id === id);
    if (found) return found;
    throw new ProblemError('preparation-not-found', `No preparation "${id}"; GET /preparations lists them.`);
  }

  /** Never rejects. */
  async #prepare(id: string): Promise<void> {
    this.#log.info({ preparation: id }, 'a preparation has started');
    const call = { signal: this.#ended.signal, progress: () => {}, isAsked: true };
    const outcomes = await this.#registry.prepare(call, { id });
    this.#started = undefined;
    for (const outcome of outcomes) {
      const err: unknown = outcome.status === 'rejected' ? outcome.reason : undefined;
      if (err !== undefined && !this.#ended.signal.aborted) this.#log.warn({ preparation: id, err }, 'a preparation has failed'); // prettier-ignore
    }
    this.#log.info({ preparation: id }, 'a preparation is over');
  }

  #toEntry({ id, title, bytes, licence, capability, configured, ...engine }: Offered): Entry {
    const facts = { id, title, capability, configured, bytes, licence, command: nameSetup(id) };
    const { runs } = this.#registry;
    const step = runs.stepOf(id) ?? (this.#started?.id === id ? { name: 'starting', done: null } : undefined);
    const state = step ? 'preparing' : engine.state;
    const outcome = runs.outcomeOf(id);
    const as = (state: Entry['state'], reason: string, progress: number | null = null): Entry => ({
      ...facts,
      state,
      progress,
      reason: shorten(reason, longestReason),
    });
    if (state === 'ready') return as('ready', 'Ready.');
    if (step) return as('preparing', `Preparing (${step.name}${percentOf(step.done)}).`, step.done);
    if (state === 'preparing') return as('preparing', 'Another preparation, or another process, is at work on it.');
    if (!outcome) return as('missing', 'Not installed.');
    return 'failure' in outcome
      ? as('failed', outcome.failure)
      : as('missing', 'Stopped; what was downloaded is kept.');
  }
}

const percentOf = (done: number | null) => (done === null ? '' : `: ${Math.floor(done * 100)} %`);

function inProgress(id: string): ProblemError {
  return new ProblemError('preparation-in-progress', `"${id}" is being prepared; one preparation at a time.`);
}
