/** The engine under test, and the rules that hold for engines of every capability. */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  availabilityCodes,
  OptionsError,
  type AvailabilityCode,
  type Capability,
} from '../../engines/contract/index.ts';
import { availabilityOf, RegistryError, type Registry, type ServedModel } from '../engine-host/registry.ts';
import { connectionsDuring } from './connections.ts';
import { expectThat, Nonconformance, promptly, promptMs, shown, type Check } from './kit.ts';
import { held, leftAfter } from './traces.ts';

export interface Subject {
  /** With which the engine works. */
  readonly options: Readonly<Record<string, unknown>>;
  /** A registry whose only instance is the engine with these options, in contexts as the service makes them. */
  readonly open: (options: Readonly<Record<string, unknown>>) => Promise<OpenSubject>;
}

export interface OpenSubject extends AsyncDisposable {
  readonly registry: Registry;
  /** The files in the directories that were lent to the engine, and in what it takes for the system's, now. */
  readonly leftovers: () => Promise<readonly string[]>;
  /** The command lines of the programs that it has started and that still run, also when it no longer does. */
  readonly programs: () => readonly string[];
  /** The ids of the processes in which it works: this one, and the programs. */
  readonly processes: () => readonly number[];
}

/** The subject as a check finds it. */
export type Opened<S extends Subject> = S & Omit<OpenSubject, keyof AsyncDisposable>;

/** A check of the engine as its options make it, opened for this check alone. */
export function check<S extends Subject>(name: string, run: (opened: Opened<S>) => Promise<unknown>): Check<S> {
  return {
    name,
    async run(subject) {
      await using opened = await subject.open(subject.options);
      return await run(toOpened(subject, opened));
    },
  };
}

function toOpened<S extends Subject>(subject: S, { registry, leftovers, programs, processes }: OpenSubject): Opened<S> {
  return { ...subject, registry, leftovers, programs, processes };
}

/** What passes by itself must not make a frontend hide its microphone; what does not must. */
const verdictOf: Readonly<Record<Exclude<AvailabilityCode, 'engine-failed'>, boolean | 'either'>> = {
  ready: true,
  busy: true,
  'upstream-unreachable': 'either',
  disabled: false,
  'unknown-model': false,
  'no-model': false,
  'program-missing': false,
  'model-file-missing': false,
  'key-missing': false,
  'key-refused': false,
  preparing: false,
};

/** What an engine says of its models. */
export const listingChecks = (capability: Capability): readonly Check<Subject>[] => [
  check('the models are well-formed and named once, and are listed from memory', async ({ registry }) => {
    const models = await registry.models(capability);
    expectThat(models.length > 0, 'it serves no model');
    for (const { entry } of models) {
      const { id, name, local, discovered } = entry;
      expectThat(typeof id === 'string' && id !== '', `a model has the id ${shown(id)}`);
      expectThat(
        typeof local === 'boolean',
        `the model ${id} has local: ${shown(local)}, which is neither true nor false`,
      );
      expectThat(
        name === undefined || (typeof name === 'string' && name !== ''),
        `the model ${id} has the name ${shown(name)}`,
      );
      expectThat(
        discovered === undefined || typeof discovered === 'boolean',
        `${id} has discovered: ${shown(discovered)}`,
      );
    }
    expectThat(new Set(models.map(({ id }) => id)).size === models.length, 'it lists a model twice');
    await promptly(registry.models(capability), 'listing the models');
  }),

  check('every model tells whether it can work, at once, in a word that is known', async ({ registry }) => {
    for (const model of await registry.models(capability)) {
      await availabilityOf(model);
      const answer = await promptly(availabilityOf(model), `the availability of ${model.id}`);
      const { available, code, reason } = answer;
      expectThat(availabilityCodes.includes(code), `the availability of ${model.id} has the code ${shown(code)}`);
      expectThat(
        code !== 'engine-failed',
        `${model.id} says engine-failed, which is the service's word for its failure`,
      );
      expectThat(typeof available === 'boolean', `${model.id} has available: ${shown(available)}`);
      expectThat(
        [available, 'either'].includes(verdictOf[code]),
        `${model.id} is ${code}, but available: ${available}`,
      );
      expectThat(typeof reason === 'string' && reason !== '', `${model.id} gives no reason for ${code}`);
    }
  }),
];

export const optionsCheck: Check<Subject> = {
  name: 'right options start it, and wrong ones stop the start',
  run: async ({ open, options }) => {
    const start = async (changes: object) => {
      await using _opened = await open({ ...options, ...changes });
    };
    const isRefused = (wrong: object) =>
      start(wrong).then(
        () => false,
        (error: unknown) => error instanceof RegistryError && isAboutOptions(error),
      );
    await start({});
    expectThat(
      await isRefused({ 'no-such-option': true }),
      'it takes the option "no-such-option"; `additionalProperties: false` in its `options` refuses it',
    );
    for (const name of Object.keys(options)) {
      const refusals = [await isRefused({ [name]: { 'no such': [null] } }), await isRefused({ [name]: -0.5 })];
      expectThat(refusals.includes(true), `its option "${name}" takes anything; say in its \`options\` what it may be`);
    }
  },
};

/** By the schema, or by the engine: anything else that `create` throws lets the service start without it. */
function isAboutOptions({ cause }: RegistryError): boolean {
  return cause === undefined || OptionsError.is(cause);
}

/** Calls that end in every way, of the model that is named, else of the first that works. */
export type Calls<S extends Subject> = (opened: Opened<S>, call?: { readonly model?: string }) => Promise<void>;

/** `local: true` promises that nothing leaves this machine; a listing says so to whoever asks. */
export function localCheck<S extends Subject>(capability: Capability, calls: Calls<S>): Check<S> {
  return check('a model that is local connects to no other machine', async (opened) => {
    let looked = 0;
    for (const model of await opened.registry.models(capability)) {
      if (!model.entry.local || !(await availabilityOf(model)).available) continue;
      looked += 1;
      const elsewhere = await connectionsDuring(async () => {
        await calls(opened, { model: model.engineId }).catch(() => undefined); // other rules look at that
        await sleep(promptMs);
      }, opened.processes);
      expectThat(
        elsewhere.length === 0,
        `${model.id} is listed as local, but while it worked it connected to, or looked up, ${elsewhere.join(', ')}`,
      );
    }
    return looked === 0 ? 'none that works here is local' : undefined;
  });
}

/** How long what ended may take to be gone: the other end of a connection has its say too. */
const goneWithinMs = 2_000;

/** What the calls leave behind while the engine lives, and what outlives it. */
export function endingChecks<S extends Subject>(calls: Calls<S>): readonly Check<S>[] {
  const leftovers = check<S>('nothing is left behind, however a call ends', async (opened) => {
    await calls(opened);
    const files = await opened.leftovers();
    expectThat(files.length === 0, `it leaves ${files.join(', ')}`);
  });
  return [leftovers, outlivingCheck(calls)];
}

function outlivingCheck<S extends Subject>(calls: Calls<S>): Check<S> {
  return {
    name: 'no child process and no connection outlives it',
    async run(subject) {
      const before = held(() => []);
      let programs: OpenSubject['programs'];
      {
        await using opened = await subject.open(subject.options);
        programs = opened.programs;
        await calls(toOpened(subject, opened));
      }
      const left = await leftAfter(goneWithinMs, before, programs);
      expectThat(left === '', `it leaves ${left}`);
    },
  };
}

/** The first model that can be asked. */
export async function firstThatWorks<C extends Capability>(registry: Registry, capability: C): Promise<ServedModel<C>> {
  const reasons: string[] = [];
  for (const model of await registry.models(capability)) {
    const { available, reason } = await availabilityOf(model);
    if (available) return model;
    reasons.push(`${model.id}: ${reason}`);
  }
  throw new Nonconformance(`no model works here, so nothing can be asked of it: ${reasons.join('; ')}`);
}

/**
 * Leaves so many milliseconds after the call; a call that is over by then has nothing to show. What the call rejects
 * with must be the reason for which the caller left, and the work must end with it.
 */
async function leaveAfter(ms: number, { programs }: Opened<Subject>, call: SignalledCall): Promise<void> {
  const before = held(programs);
  const reason = new Error('the caller has left');
  const caller = new AbortController();
  const outcome = call(caller.signal).then(
    () => undefined,
    (error: unknown) => error ?? new Error('nothing'),
  );
  await Promise.race([outcome, sleep(ms)]);
  caller.abort(reason);
  const what = `a call whose caller left after ${Math.round(ms)} ms`;
  const error = await promptly(outcome, what);
  const isOver = ms > 0 && error === undefined;
  expectThat(isOver || error !== undefined, `${what} is answered all the same`);
  expectThat(isOver || error === reason, 'it does not reject with the reason for which the caller left', error);
  const left = await leftAfter(promptMs, before, programs);
  expectThat(left === '', `${what} rejects, but ${promptMs} ms later there is still ${left}`);
}

type SignalledCall = (signal: AbortSignal) => Promise<unknown>;

/** Leaves at several moments of a call, by how long it takes when it is let run. */
export async function leaveAtSeveralMoments(opened: Opened<Subject>, call: SignalledCall): Promise<void> {
  const timed = async () => {
    const started = performance.now();
    await call(new AbortController().signal);
    return performance.now() - started;
  };
  // The first call may find everything cold.
  const wholeMs = Math.min(await timed(), await timed());
  for (const share of [0, 0.25, 0.5, 0.75]) await leaveAfter(share * wholeMs, opened, call);
}
