/** What this machine can have, as the API lists it: what the engines say, with what this process is doing about it. */
import type { Logger, Preparation } from '../../engines/contract/index.ts';
import { shorten } from '../../lib/truncate.ts';
import { nameSetup } from '../../lib/setup-command.ts';
import type { Schemas } from '../contract/operations.ts';
import { ProblemError } from '../contract/problems.ts';
import type { ListedPreparations, Registry } from './registry.ts';

type Entry = Schemas['Preparation'];

/** npm's own words take many lines. */
const longestReason = 2_000;

export interface PreparationsOptions {
  readonly registry: Pick<Registry, 'preparations' | 'prepare' | 'runs'>;
  readonly log: Logger;
}

/** Starts one at a time. What a start of the service prepares unasked does not count. */
export class Preparations implements AsyncDisposable {
  readonly #registry: PreparationsOptions['registry'];
  readonly #log: Logger;
  readonly #ended = new AbortController();
  #started: { readonly id: string; readonly done: Promise<void> } | undefined;

  constructor({ registry, log }: PreparationsOptions) {
    this.#registry = registry;
    this.#log = log;
  }

  /** What the settings need comes first. */
  async list(): Promise<Entry[]> {
    const listed = await this.#registry.preparations();
    for (const { instance, failure } of listed) {
      if (failure !== undefined)
        this.#log.warn({ engine: instance, failure }, 'an engine cannot list its preparations');
    }
    const all = grouped(listed).map((each) => this.#toEntry(each));
    return [...all.filter(({ configured }) => configured), ...all.filter(({ configured }) => !configured)];
  }

  /** The state of one that is there or in progress. Throws `preparation-not-found` and `preparation-in-progress`. */
  async start(id: string): Promise<Entry> {
    const found = await this.#find(id);
    if (found.state === 'ready' || found.state === 'preparing') return found;
    if (this.#started && this.#started.id !== id) throw inProgress(this.#started.id);
    this.#started ??= { id, done: this.#prepare(id) };
    return this.#find(id);
  }

  /** Throws `preparation-not-found`. */
  async stop(id: string): Promise<Entry> {
    await this.#find(id);
    await this.#registry.runs.stop(id);
    if (this.#started?.id === id) await this.#started.done;
    return this.#find(id);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort(new Error('the service is shutting down'));
    await this.#started?.done;
  }

  async #find(id: string): Promise<Entry> {
    const found = (await this.list()).find((one) => one.id === id);
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

  #toEntry({ id, title, bytes, licence, capability, configured, ...engine }: Grouped): Entry {
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
    if (state === 'preparing') return as('preparing', 'Another process prepares it.');
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

interface Grouped extends Omit<Entry, 'state' | 'progress' | 'reason' | 'command'> {
  readonly state: Preparation['state'];
}

/** Engines that share an id share what it needs: the largest size is the whole. */
function grouped(listed: readonly ListedPreparations[]): Grouped[] {
  const all = listed.flatMap(({ capability, list }) =>
    list.map(({ isConfigured = false, id, title, bytes, licence, state }) => {
      return { id, title, capability, configured: isConfigured, bytes, licence, state };
    }),
  );
  return [...Map.groupBy(all, ({ id }) => id).values()].flatMap((group) => {
    const main = group.find(({ configured }) => configured) ?? group[0];
    if (!main) return [];
    const sizes = group.map(({ bytes }) => bytes);
    const licences = group.flatMap(({ licence }) => licence.split(', '));
    const states = group.map(({ state }) => state);
    return {
      ...main,
      bytes: sizes.includes(null) ? null : Math.max(...sizes.filter((size) => size !== null)),
      licence: [...new Set(licences)].join(', '),
      state: (['preparing', 'missing'] as const).find((state) => states.includes(state)) ?? 'ready',
    };
  });
}
