/**
 * Wraps an engine instance: no function throws an unknown error or returns an invalid value. Listings,
 * availability and the pauses between chat events have timeouts; those of transcriptions and speech are their callers'.
 */
import {
  EngineError,
  type AssetGroup,
  type Availability,
  type Capability,
  type Engine,
  type Engines,
  type Finding,
  type Logger,
  type ModelEntry,
} from '../../../engines/contract/index.ts';
import type { Assets } from '../assets/assets.ts';
import { checkAssets, checkAvailability, checkFindings, checkModels, hasFunction } from './answers.ts';
import {
  guardComplete,
  guardFindSpeech,
  guardSynthesize,
  guardTranscribe,
  guardWarmUp,
  type CallFacts,
} from './calls.ts';
import { engineErrorOf, asError } from './failures.ts';
import type { EngineTimeouts } from './timeouts.ts';
import { CachedPoll, type Failure, SharedDeadline } from './cached-poll.ts';
import { within } from './within.ts';

/** An engine as used by the service. */
export interface Guarded<C extends Capability> {
  readonly engine: Engines[C];
  /** Current failures, for the operator. */
  failures(): readonly GuardedFailure[];
  /** Whether a model was available when the engine was last asked; undefined before that. Does not call the engine. */
  lastAvailable(id: string): boolean | undefined;
  /** False until the engine has listed its models. */
  readonly hasList: boolean;
}

/** A function of an engine, and its error. */
export interface GuardedFailure {
  readonly what: string;
  readonly error: Error;
}

export interface GuardFacts<C extends Capability = Capability> {
  /** The instance's name in the settings. */
  readonly instance: string;
  readonly capability: C;
  readonly timeouts: EngineTimeouts;
  readonly log: Logger;
  /** True for a server that the service looks for by itself: its absence is not a failure. */
  readonly isLookedFor?: boolean;
  /** Absent in the conformance kit. */
  readonly assets?: Pick<Assets, 'availabilityOf'> | undefined;
}

/** Adds the guarded verb of the capability. */
const guardVerb: { readonly [C in Capability]: (raw: Engines[C], guarded: Engine, call: CallFacts) => Engines[C] } = {
  transcription: (raw, guarded, call) => ({
    ...guarded,
    transcribe: guardTranscribe(raw, call),
    ...(hasFunction(raw, 'warmUp') && { warmUp: guardWarmUp(raw, call) }),
    ...(hasFunction(raw, 'findSpeech') && { findSpeech: guardFindSpeech(raw, call) }),
    ...(raw.decodes && { decodes: true }),
  }),
  chat: (raw, guarded, call) => ({ ...guarded, complete: guardComplete(raw, call) }),
  speech: (raw, guarded, call) => ({ ...guarded, synthesize: guardSynthesize(raw, call) }),
};

export function guardEngine<C extends Capability>(raw: Engines[C], facts: GuardFacts<C>): Guarded<C> {
  const { instance, capability, timeouts, log } = facts;
  const failures = createFailureLog(facts);
  const models = createModels(raw, facts, failures);
  const lacking = async (id: string) => {
    const entry = models.value?.find((one) => one.id === id);
    return entry?.needs && facts.assets?.availabilityOf(entry);
  };
  const availability = createAvailability(raw, facts, failures, lacking);
  const call = { instance, abortMs: timeouts.abortMs, chatIdle: new SharedDeadline(timeouts.chatIdleMs), log };
  const engine: Engine = {
    async models() {
      const last = models.value;
      await models.refresh();
      const list = models.value ?? nothing;
      if (list !== last) availability.keep(list);
      return list;
    },
    availability: availability.of,
    inspect: () => inspect(raw, facts),
    [Symbol.asyncDispose]: () => dispose(raw, timeouts.endMs, log),
  };
  const groups = readAssets(raw, failures);
  if (groups.length > 0) Object.assign(engine, { assets: groups });
  return {
    engine: guardVerb[capability](raw, engine, call),
    failures: failures.all,
    lastAvailable: availability.last,
    get hasList() {
      return models.value !== undefined;
    },
  };
}

/** Replaces the engine; its failures and its list of models stay. */
export function withEngine<C extends Capability>(guarded: Guarded<C>, engine: Engines[C]): Guarded<C> {
  const available = new Map<string, boolean>();
  return {
    engine: {
      ...engine,
      async availability(id) {
        const answer = await engine.availability(id);
        available.set(id, answer.available);
        return answer;
      },
    },
    failures: () => guarded.failures(),
    lastAvailable: (id) => available.get(id),
    get hasList() {
      return guarded.hasList;
    },
  };
}

/** Placeholder for an engine that could not be created; `what` failed. */
export function failedEngine<C extends Capability>(instance: string, what: string, error: Error): Guarded<C> {
  const fails = () => {
    throw new EngineError('engine-failed', `The engine ${instance} failed to start.`);
  };
  const engine = {
    models: () => Promise.resolve(nothing),
    availability: () => Promise.resolve(failed(`The engine ${instance} failed to start.`)),
    ...{ transcribe: fails, complete: fails, synthesize: fails },
  };
  return { engine, failures: () => [{ what, error }], lastAvailable: () => false, hasList: false };
}

/** Returns an unguarded instance for the conformance kit, which must see the real behavior of an engine. */
export function unguarded<C extends Capability>(engine: Engines[C]): Guarded<C> {
  return { engine, failures: () => [], lastAvailable: () => undefined, hasList: true };
}

const nothing: readonly ModelEntry[] = [];

type FailureLog = ReturnType<typeof createFailureLog>;

/** Tracks failures of an engine, so that each change is logged once. */
function createFailureLog({ log, timeouts, isLookedFor }: GuardFacts) {
  const level = isLookedFor === true ? 'debug' : 'error';
  const current = new Map<string, Error>();
  return {
    begin(what: string, error: unknown): void {
      const err = asError(error);
      current.set(what, err);
      log[level]({ err }, `the engine fails at ${what}; retrying every ${timeouts.retryMs / 1000} s`);
    },
    end(what: string): void {
      current.delete(what);
      log[isLookedFor === true ? 'debug' : 'info']({}, `the engine no longer fails at ${what}`);
    },
    all: (): readonly GuardedFailure[] =>
      isLookedFor === true ? [] : [...current].map(([what, error]) => ({ what, error })),
  };
}

function createModels(raw: Engine, { timeouts }: GuardFacts, failures: FailureLog): CachedPoll<readonly ModelEntry[]> {
  const what = 'models()';
  return new CachedPoll({
    poll: () => raw.models(),
    check: checkModels,
    deadlines: { first: new SharedDeadline(timeouts.firstModelsMs), later: new SharedDeadline(timeouts.modelsMs) },
    retryMs: timeouts.retryMs,
    late: () => new EngineError('engine-timeout', 'no answer in time'),
    onChange: (failure) => (failure ? failures.begin(what, failure.error) : failures.end(what)),
  });
}

function createAvailability(
  raw: Engine,
  { instance, timeouts }: GuardFacts,
  failures: FailureLog,
  lacking: (id: string) => Promise<Availability | undefined>,
) {
  const polls = new Map<string, CachedPoll<Availability>>();
  const failing = new Set<string>();
  const deadline = new SharedDeadline(timeouts.availabilityMs);
  const deadlines = { first: deadline, later: deadline };
  const what = 'availability()';

  /** Logs one line per engine, not one per model. */
  function record(id: string, failure: Failure | undefined): void {
    const before = failing.size;
    if (failure) failing.add(id);
    else failing.delete(id);
    if (failure && before === 0) failures.begin(what, failure.error);
    if (before > 0 && failing.size === 0) failures.end(what);
  }

  const open = (id: string) =>
    new CachedPoll<Availability>({
      poll: async () => {
        try {
          return (await lacking(id)) ?? (await raw.availability(id));
        } catch (error) {
          const { code, message } = engineErrorOf(error) ?? {};
          if (code !== 'unknown-model') throw error;
          return { available: false, code, reason: message }; // the model is no longer listed
        }
      },
      check: checkAvailability,
      deadlines,
      retryMs: timeouts.retryMs,
      late: () => new EngineError('engine-timeout', `no answer within ${timeouts.availabilityMs / 1000} s`),
      onChange: (failure) => record(id, failure),
    });

  /** The last answer remains valid for a while after the engine has begun to fail. */
  const lastValid = ({ value, failure }: CachedPoll<Availability>) =>
    !failure || performance.now() - failure.since < timeouts.standsMs ? value : undefined;

  return {
    last: (id: string): boolean | undefined => {
      const poll = polls.get(id);
      if (poll === undefined) return undefined;
      return lastValid(poll)?.available ?? (poll.failure ? false : undefined);
    },
    of: async (id: string): Promise<Availability> => {
      let poll = polls.get(id);
      if (poll === undefined) polls.set(id, (poll = open(id)));
      await poll.refresh();
      const value = lastValid(poll);
      if (value !== undefined) return value;
      const { failure } = poll;
      // Clients only see the message of an EngineError; everything else goes to the log.
      const said = engineErrorOf(failure?.error)?.message ?? 'the log of the service has the cause';
      return failed(`The engine ${instance} cannot report its availability: ${said}`);
    },
    /** Removes models that are no longer listed. */
    keep: (list: readonly ModelEntry[]): void => {
      const listed = new Set(list.map(({ id }) => id));
      for (const id of polls.keys()) {
        if (listed.has(id)) continue;
        polls.delete(id);
        record(id, undefined);
      }
    },
  };
}

function failed(reason: string): Availability {
  return { available: false, code: 'engine-failed', reason };
}

/** Reads the assets of the engine; none if they violate the contract, so that the engine works without them. */
function readAssets(raw: Engine, failures: FailureLog): readonly AssetGroup[] {
  try {
    return checkAssets(raw.assets ?? []);
  } catch (error) {
    failures.begin('assets', error);
    return [];
  }
}

async function inspect(raw: Engine, { timeouts }: GuardFacts): Promise<readonly Finding[]> {
  if (!hasFunction(raw, 'inspect')) return [];
  try {
    return checkFindings(await within(timeouts.inspectMs, () => raw.inspect?.()));
  } catch (error) {
    return [{ what: 'inspect()', ok: false, detail: asError(error).message }];
  }
}

/** Disposes of the engine. An error or a hang does not block the shutdown. */
export async function dispose(raw: Engine, ms: number, log: Logger): Promise<void> {
  try {
    if (hasFunction(raw, Symbol.asyncDispose)) await within(ms, () => raw[Symbol.asyncDispose]?.());
  } catch (error) {
    log.warn({ err: asError(error) }, 'the engine failed to shut down');
  }
}
