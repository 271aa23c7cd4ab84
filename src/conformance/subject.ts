/** The engine under test, and the rules that hold for engines of every capability. */
import { setTimeout as sleep } from 'node:timers/promises';
import { OptionsError, type AvailabilityCode, type Capability, type Feature } from '../../engines/contract/index.ts';
import { checkAssets } from '../engine-host/guard/answers.ts';
import type { ServedModel } from '../engine-host/models/served-models.ts';
import { RegistryError } from '../engine-host/registry/registry-error.ts';
import type { Registry } from '../engine-host/registry/registry.ts';
import { connectionsDuring } from './connections.ts';
import { expectRejection, expectThat, expectValid, Nonconformance, promptly, promptMs, type Check } from './kit.ts';
import { held, leftAfter } from './leftovers.ts';

export interface Subject {
  /** Options of the engine that are valid on this machine. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Opens a registry whose only instance is the engine with these options, with the service's own contexts. */
  readonly open: (options: Readonly<Record<string, unknown>>) => Promise<OpenSubject>;
}

export interface OpenSubject extends AsyncDisposable {
  readonly registry: Registry;
  /**
   * Resolves with the files that currently exist in the engine's temporary directories and in the system's temporary
   * directory.
   */
  readonly leftovers: () => Promise<readonly string[]>;
  /**
   * Returns the command lines of running programs that the engine started, including programs that outlive the engine.
   */
  readonly programs: () => readonly string[];
  /** Returns the command lines of the programs that stay loaded between calls (`context.resident`). */
  readonly residents: () => readonly string[];
  /** Returns the process ids of the engine: this process and its programs. */
  readonly processes: () => readonly number[];
}

/** The opened subject that a check receives. */
export type Opened<S extends Subject> = S & OpenSubject;

/** Creates a check that opens its own engine with the options of the subject. */
export function check<S extends Subject>(name: string, run: (opened: Opened<S>) => unknown): Check<S> {
  return {
    name,
    async run(subject) {
      await using opened = await subject.open(subject.options);
      return await run({ ...subject, ...opened });
    },
  };
}

/** Calls the named model, or the first available one. Rejects with the error of the engine. */
export type Call<S extends Subject> = (
  opened: Opened<S>,
  changes?: { readonly model?: string },
  signal?: AbortSignal,
) => Promise<unknown>;

/** The calls of a capability that the checks for every engine use. */
export interface Calls<S extends Subject> {
  readonly succeed: Call<S>;
  readonly fail: Call<S>;
}

/** Returns the checks of a capability: its own checks, surrounded by the checks that apply to every engine. */
export function checksFor<S extends Subject>(
  capability: Capability,
  calls: Calls<S>,
  own: readonly Check<S>[],
): readonly Check<S>[] {
  return [
    ...listingChecks(capability),
    check('an unknown model is rejected', async (opened) => {
      const call = calls.succeed(opened, { model: 'no-such-model' });
      await expectRejection('unknown-model', call, 'the model "no-such-model"');
    }),
    ...own,
    check('an aborted call rejects promptly with the abort reason', async (opened) => {
      await abortAtSeveralMoments(opened, async (signal) => calls.succeed(opened, {}, signal));
    }),
    localCheck(capability, calls),
    ...endingChecks(calls),
    optionsCheck,
  ];
}

/**
 * Frontends hide their microphone button if a model is unavailable, so only lasting states may count as unavailable.
 */
const availableFor: Readonly<Record<Exclude<AvailabilityCode, 'engine-failed'>, boolean | 'either'>> = {
  ready: true,
  busy: true,
  loading: true,
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

/** Checks of the models that the engine publishes, both when it is created and when it rechecks them. */
const listingChecks = (capability: Capability): readonly Check<Subject>[] => [
  check('the published models are valid and unique', async ({ registry }) => {
    expectModels(registry, capability);
    await registry.recheck();
    expectModels(registry, capability);
  }),

  check('every model has a known availability and a reason', ({ registry }) => {
    for (const { id, entry } of registry.of(capability).all) {
      const { available, code, reason } = entry.availability ?? ready;
      const isAllowed = code !== 'engine-failed' && [available, 'either'].includes(availableFor[code]);
      expectThat(isAllowed, `${id} is ${code}, but available: ${available}`);
      expectThat(reason !== '', `${id} gives no reason for ${code}`);
    }
    return Promise.resolve();
  }),

  check(
    'assets have an id, a title, a size and a license, and report whether they are installed',
    async ({ registry }) => {
      for (const model of registry.of(capability).all) {
        const groups = expectValid(checkAssets, model.engine.assets ?? []);
        const all = groups.flatMap(({ assets, extras = [] }) => [...assets, ...extras]);
        for (const asset of all) await promptly(Promise.resolve(asset.isReady()), `whether ${asset.id} is there`);
        const unknown = (model.entry.needs ?? []).filter((id) => !all.some((asset) => asset.id === id));
        expectThat(unknown.length === 0, `${model.id} needs ${unknown.join()}, which \`assets\` does not have`);
      }
    },
  ),
];

const ready = { available: true, code: 'ready', reason: 'Ready.' } as const;

function expectModels(registry: Registry, capability: Capability): void {
  const { all, failures } = registry.of(capability);
  expectThat(failures.length === 0, failures.map(({ error }) => error.message).join('; '));
  expectThat(all.length > 0, 'the engine publishes no model');
  for (const { entry } of all) expectThat(entry.name !== '', `the model ${entry.id} has an empty name`);
}

const optionsCheck: Check<Subject> = {
  name: 'valid options are accepted, and invalid ones stop the start',
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
      'the unknown option "no-such-option" is accepted; set `additionalProperties: false` in its `options`',
    );
    for (const name of Object.keys(options)) {
      const refusals = [await isRefused({ [name]: { 'no such': [null] } }), await isRefused({ [name]: -0.5 })];
      expectThat(refusals.includes(true), `option "${name}" accepts any value; restrict it in its \`options\``);
    }
  },
};

/** Whether the schema or an OptionsError rejected the options. The service tolerates other errors of `create`. */
function isAboutOptions({ cause }: RegistryError): boolean {
  return cause === undefined || OptionsError.is(cause);
}

/** Makes one call that succeeds, one that fails, and one that is aborted. */
async function endInEveryWay<S extends Subject>(
  { succeed, fail }: Calls<S>,
  opened: Opened<S>,
  changes: { readonly model?: string } = {},
): Promise<void> {
  await succeed(opened, changes);
  await fail(opened, changes).catch(() => undefined);
  await succeed(opened, changes, AbortSignal.timeout(20)).catch(() => undefined);
}

/** `local: true` guarantees clients that no data leaves this machine. */
function localCheck<S extends Subject>(capability: Capability, calls: Calls<S>): Check<S> {
  return check('a local model connects to no other machine', async (opened) => {
    let checked = 0;
    for (const model of opened.registry.of(capability).all) {
      if (!model.entry.local || !model.availability.available) continue;
      checked += 1;
      const elsewhere = await connectionsDuring(async () => {
        await endInEveryWay(calls, opened, { model: model.engineId }).catch(() => undefined); // covered by other checks
        await sleep(promptMs);
      }, opened.processes);
      expectThat(
        elsewhere.length === 0,
        `${model.id} is listed as local, but during calls it connected to or looked up ${elsewhere.join(', ')}`,
      );
    }
    return checked === 0 ? 'no available model is local' : undefined;
  });
}

/** Grace period in milliseconds after the engine has ended, because closing a connection also depends on the peer. */
const cleanupMs = 2_000;

/** Returns the checks for files left by calls, and for resources that outlive the engine. */
function endingChecks<S extends Subject>(calls: Calls<S>): readonly Check<S>[] {
  const leftovers = check<S>('no files remain after a call, however it ends', async (opened) => {
    await endInEveryWay(calls, opened);
    const files = await opened.leftovers();
    expectThat(files.length === 0, `left behind: ${files.join(', ')}`);
  });
  return [leftovers, outlivingCheck(calls)];
}

function outlivingCheck<S extends Subject>(calls: Calls<S>): Check<S> {
  return {
    name: 'no child process or connection outlives the engine',
    async run(subject) {
      const before = held(() => []);
      let programs: OpenSubject['programs'];
      {
        await using opened = await subject.open(subject.options);
        programs = opened.programs;
        await endInEveryWay(calls, { ...subject, ...opened });
      }
      const left = await leftAfter(cleanupMs, before, () => held(programs));
      expectThat(left === '', `these remain after the engine ended: ${left}`);
    },
  };
}

/** Returns the first available model. */
export function firstAvailable<C extends Capability>(registry: Registry, capability: C): ServedModel<C> {
  const reasons: string[] = [];
  for (const model of registry.of(capability).all) {
    const { available, reason } = model.availability;
    if (available) return model;
    reasons.push(`${model.id}: ${reason}`);
  }
  throw new Nonconformance(`no model is available: ${reasons.join('; ')}`);
}

/** Returns the features of the first available model. */
export function featuresOf(registry: Registry, capability: Capability): readonly Feature[] {
  return firstAvailable(registry, capability).entry.supports ?? [];
}

/**
 * Aborts a call `ms` milliseconds after it started; a call that has already ended passes. The call must reject with the
 * abort reason, and its work must end.
 */
async function abortAfter(ms: number, opened: Opened<Subject>, call: SignalledCall): Promise<void> {
  const heldNow = () => held(opened.programs, opened.residents);
  const before = heldNow();
  const reason = new Error('aborted by the kit');
  const controller = new AbortController();
  const state = { isAnswered: false };
  const outcome = call(controller.signal).then(
    () => void (state.isAnswered = true),
    (error: unknown) => error ?? new Error('nothing'),
  );
  await Promise.race([outcome, sleep(ms)]);
  const wasOver = state.isAnswered;
  controller.abort(reason);
  const what = `a call aborted after ${Math.round(ms)} ms`;
  const error = await promptly(outcome, what);
  // The call may already have produced its result when it was aborted.
  const isOver = error === undefined && (wasOver || ms > 0);
  expectThat(isOver || error !== undefined, `${what} resolves instead of rejecting`);
  expectThat(isOver || error === reason, 'the call does not reject with the abort reason', error);
  const left = await leftAfter(promptMs, before, heldNow);
  expectThat(left === '', `${promptMs} ms after the rejection of ${what}, these remain: ${left}`);
}

type SignalledCall = (signal: AbortSignal) => Promise<unknown>;

/** Aborts at several points during a call, relative to its measured duration. */
async function abortAtSeveralMoments(opened: Opened<Subject>, call: SignalledCall): Promise<void> {
  const timed = async () => {
    const started = performance.now();
    await call(new AbortController().signal);
    return performance.now() - started;
  };
  // Takes the faster of two calls, because the first call may be a cold start.
  const wholeMs = Math.min(await timed(), await timed());
  for (const share of [0, 0.25, 0.5, 0.75]) await abortAfter(share * wholeMs, opened, call);
}
