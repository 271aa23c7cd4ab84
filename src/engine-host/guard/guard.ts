/**
 * Wraps an engine instance so that no function throws an unknown error or returns an invalid value. Pauses between chat
 * events have a timeout here; for transcriptions and speech, the callers set the timeout.
 */
import type { AssetGroup, Capability, Engine, Engines, Finding, Logger } from '../../../engines/contract/index.ts';
import { isObject } from '../../../lib/json.ts';
import { checkAssets, checkFindings, hasFunction } from './answers.ts';
import {
  guardComplete,
  guardFindSpeech,
  guardSpeakers,
  guardSynthesize,
  guardTranscribe,
  guardWarmUp,
  type CallFacts,
} from './calls.ts';
import { asError } from './failures.ts';
import { SharedDeadline } from './shared-deadline.ts';
import type { EngineTimeouts } from './timeouts.ts';
import { within } from './within.ts';

/** A failing function of an engine, and its error. */
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
}

/** Adds the guarded functions of each capability. */
const guardVerb: { readonly [C in Capability]: (raw: Engines[C], guarded: Engine, call: CallFacts) => Engines[C] } = {
  transcription: (raw, guarded, call) => ({
    ...guarded,
    transcribe: guardTranscribe(raw, call),
    ...(hasFunction(raw, 'warmUp') && { warmUp: guardWarmUp(raw, call) }),
    ...(hasFunction(raw, 'findSpeech') && { findSpeech: guardFindSpeech(raw, call) }),
    ...(isObject(raw.speakers) && { speakers: guardSpeakers(raw.speakers, call) }),
    ...(raw.decodes && { decodes: true }),
  }),
  chat: (raw, guarded, call) => ({
    ...guarded,
    complete: guardComplete(raw, call),
    ...(hasFunction(raw, 'warmUp') && { warmUp: guardWarmUp(raw, call) }),
  }),
  speech: (raw, guarded, call) => ({
    ...guarded,
    synthesize: guardSynthesize(raw, call),
    ...(hasFunction(raw, 'warmUp') && { warmUp: guardWarmUp(raw, call) }),
    ...(raw.verbatim && { verbatim: true }),
  }),
};

export interface Guarded<C extends Capability> {
  readonly engine: Engines[C];
  /** Failures of the engine's functions, for the operator. */
  failures(): readonly GuardedFailure[];
}

export function guardEngine<C extends Capability>(raw: Engines[C], facts: GuardFacts<C>): Guarded<C> {
  const { instance, capability, timeouts, log } = facts;
  const failures = createFailureLog(log);
  const look = hasFunction(raw, 'recheck') ? inTurn(() => recheck(raw, timeouts, failures)) : undefined;
  const chatIdle = new SharedDeadline(timeouts.chatIdleMs);
  const call = { instance, abortMs: timeouts.abortMs, chatIdle, log, recheck: look };
  const groups = readAssets(raw, failures);
  const engine: Engine = {
    models: raw.models,
    ...(look && { recheck: look }),
    inspect: () => inspect(raw, facts),
    [Symbol.asyncDispose]: () => dispose(raw, timeouts.endMs, log),
    ...(groups.length > 0 && { assets: groups }),
  };
  return { engine: guardVerb[capability](raw, engine, call), failures: failures.all };
}

/** Returns a placeholder for an engine that could not be created. */
export function failedEngine<C extends Capability>(what: string, error: Error): Guarded<C> {
  const fails = () => Promise.reject(error);
  const engine = { models: [], ...{ transcribe: fails, complete: fails, synthesize: fails } };
  return { engine: engine as unknown as Engines[C], failures: () => [{ what, error }] };
}

type FailureLog = ReturnType<typeof createFailureLog>;

/** Tracks failures of an engine, so that each change is logged once. */
function createFailureLog(log: Logger) {
  const current = new Map<string, Error>();
  return {
    begin(what: string, error: unknown): void {
      const err = asError(error);
      if (!current.has(what)) log.error({ err }, `the engine fails at ${what}`);
      current.set(what, err);
    },
    end(what: string): void {
      if (current.delete(what)) log.info({}, `the engine no longer fails at ${what}`);
    },
    all: (): readonly GuardedFailure[] => Array.from(current, ([what, error]) => ({ what, error })),
  };
}

/**
 * Returns a function that runs `work` after the current run has ended. Calls made in the meantime share that next run.
 */
function inTurn(work: () => Promise<void>): () => Promise<void> {
  let current: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;
  return () =>
    (next ??= current.then(() => {
      next = undefined;
      return (current = work());
    }));
}

/** Never rejects. On failure, the models that the engine has published remain. */
async function recheck(raw: Engine, { recheckMs }: EngineTimeouts, failures: FailureLog): Promise<void> {
  const what = 'recheck()';
  try {
    await within(recheckMs, () => raw.recheck?.());
    failures.end(what);
  } catch (error) {
    failures.begin(what, error);
  }
}

/** Reads the assets of the engine. If they violate the contract, returns none, so that the engine still works. */
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

/** Disposes of the engine. Errors and hangs do not block the shutdown. */
export async function dispose(raw: Engine, ms: number, log: Logger): Promise<void> {
  try {
    if (hasFunction(raw, Symbol.asyncDispose)) await within(ms, () => raw[Symbol.asyncDispose]?.());
  } catch (error) {
    log.warn({ err: asError(error) }, 'the engine failed to shut down');
  }
}
