/** Opens the engines of an instance: loads, creates and guards them. */
import {
  OptionsError,
  type Capability,
  type EngineContext,
  type EngineDefinition,
  type Engines,
} from '../../../engines/contract/index.ts';
import type { EngineInstances, InstanceSettings } from '../../settings/engines.ts';
import type { Assets } from '../assets/assets.ts';
import { asError } from '../guard/failures.ts';
import { hasFunction } from '../guard/answers.ts';
import { dispose, failedEngine, guardEngine } from '../guard/guard.ts';
import { defaultTimeouts, type EngineTimeouts } from '../guard/timeouts.ts';
import { within } from '../guard/within.ts';
import { availabilityIn, failed, OpenedParts } from '../models/availability.ts';
import type { AnyInstance, EngineHost, Instance } from '../models/instance.ts';
import { PublishedModels } from '../models/published.ts';
import { checkOptions, loadDefinitions, type Definition, type ModuleOptions } from './load-definition.ts';
import { explained, refusal, RegistryError } from './registry-error.ts';

export interface InstanceOptions extends ModuleOptions {
  /** Creates the context of an engine. */
  readonly contextFor: (instance: string, host: EngineHost) => EngineContext;
  readonly assets: Assets;
  /** Instances that are used if they are running, and whose absence is not a failure. */
  readonly lookedFor?: readonly string[] | undefined;
  /** Overrides for the default timeouts. */
  readonly timeouts?: Partial<EngineTimeouts> | undefined;
  /**
   * Replaces a transcription engine with one that runs on other machines (src/fleet). Returns undefined to keep the
   * engine.
   */
  readonly wrapAsRemote?: ((instance: Instance<'transcription'>) => RemoteEngine | undefined) | undefined;
  /** False only for the conformance kit, which must see the unguarded behavior of an engine. */
  readonly guard?: boolean | undefined;
}

export type RemoteEngine = Pick<Instance<'transcription'>, 'engine' | 'availabilityOf'>;

/** An instance in the settings. `place` is its path in the settings, for messages. */
export interface Listed {
  readonly name: string;
  readonly place: string;
  readonly settings: InstanceSettings;
}

export interface Opened {
  readonly instances: readonly AnyInstance[];
  /** Errors that abort startup. */
  readonly mistakes: readonly RegistryError[];
  /** Engines that could not be loaded in time, or created despite valid options; the service starts without them. */
  readonly failures: readonly CreateFailure[];
}

interface CreateFailure {
  readonly error: RegistryError;
  /** Placeholders for engines that could not be loaded or created. */
  readonly instances: readonly AnyInstance[];
}

/** Flattens the instances into a list. */
export function listInstances(instances: EngineInstances): Listed[] {
  return Object.entries(instances).flatMap(([name, settings]) =>
    'use' in settings
      ? [{ name, place: name, settings }]
      : settings.map((item, index) => ({ name, place: `${name}[${index}]`, settings: item })),
  );
}

/** Also returns the engines that were created before a mistake, so that they are disposed of. */
export async function openInstance(listed: Listed, options: InstanceOptions): Promise<Opened> {
  const instances: AnyInstance[] = [];
  const failures: CreateFailure[] = [];
  try {
    const definitions = await load(listed, options);
    if (definitions === undefined) return notLoaded(listed, options);
    for (const definition of definitions) {
      const { instance, failure } = await open(definition, listed, options);
      instances.push(instance); // from here on, the registry disposes of the instance
      if (failure) failures.push({ error: failure, instances: [instance] });
      const { wrapAsRemote } = options;
      if (wrapAsRemote && !failure && instance.capability === 'transcription') {
        instances.splice(-1, 1, { ...instance, ...wrapAsRemote(instance) });
      }
    }
  } catch (error) {
    const isKnown = error instanceof RegistryError;
    const mistake = isKnown ? error : refusal(listed.place, `cannot open it: ${String(error)}`, error);
    return { instances, mistakes: [mistake], failures };
  }
  return { instances, mistakes: [], failures };
}

/** Resolves with undefined after a timeout, because a module may await something that never happens. */
async function load({ place, settings }: Listed, options: InstanceOptions): Promise<readonly Definition[] | undefined> {
  const loading = () => loadDefinitions(place, settings.use, options);
  if (options.guard === false) return loading();
  try {
    return await within(timeoutsOf(options).importMs, loading);
  } catch (error) {
    if (error instanceof RegistryError) throw error;
    return undefined;
  }
}

const timeoutsOf = ({ timeouts }: InstanceOptions): EngineTimeouts => ({ ...defaultTimeouts, ...timeouts });

/**
 * Returns a placeholder for every capability, because the capability of the module is unknown. Without placeholders, a
 * hosted model could become the default.
 */
function notLoaded({ name, place, settings: { use } }: Listed, options: InstanceOptions): Opened {
  const cause = new Error(`its module was not loaded within ${timeoutsOf(options).importMs / 1000} s`);
  const error = refusal(`${place}.use`, `${use} could not be loaded: ${cause.message}`, cause);
  const instances = [
    failedInstance(name, 'transcription', 'import', error, options),
    failedInstance(name, 'chat', 'import', error, options),
    failedInstance(name, 'speech', 'import', error, options),
  ];
  return { instances, mistakes: [], failures: [{ error, instances }] };
}

function failedInstance<C extends Capability>(
  name: string,
  capability: C,
  what: string,
  error: RegistryError,
  options: InstanceOptions,
): Instance<C> {
  const { context, published } = openContext(name, options);
  const availabilityOf = () => failed(`The engine ${name} failed to start.`);
  return { name, capability, ...failedEngine<C>(what, error), published, availabilityOf, log: context.log };
}

function openContext(name: string, { contextFor, lookedFor }: InstanceOptions) {
  const opened = new OpenedParts();
  const context = contextFor(name, { opened, publish: (...list) => published.publish(...list) });
  const published = new PublishedModels({ log: context.log, isLookedFor: lookedFor?.includes(name) === true });
  return { context, published, opened };
}

interface OpenedEngine<C extends Capability> {
  readonly instance: Instance<C>;
  /** The reason if the engine could not be created. */
  readonly failure?: RegistryError;
}

type AnyOpenedEngine = { readonly [C in Capability]: OpenedEngine<C> }[Capability];

/** One case per capability, so that the types of an engine and its instance match. */
async function open(definition: Definition, listed: Listed, options: InstanceOptions): Promise<AnyOpenedEngine> {
  switch (definition.capability) {
    case 'transcription':
      return openEngine(definition, listed, options);
    case 'chat':
      return openEngine(definition, listed, options);
    case 'speech':
      return openEngine(definition, listed, options);
  }
}

async function openEngine<C extends Capability>(
  definition: EngineDefinition<C>,
  listed: Listed,
  options: InstanceOptions,
): Promise<OpenedEngine<C>> {
  const { name, place } = listed;
  const { capability } = definition;
  const open = () => openContext(name, options);
  const { context, published, opened } = await explained(place, 'cannot create its context', open);
  const { log } = context;
  const raw = await create(definition, listed, context, options);
  if (raw instanceof RegistryError) {
    return { instance: failedInstance(name, capability, 'create()', raw, options), failure: raw };
  }
  const timeouts = timeoutsOf(options);
  if (!hasFunction(raw, verbs[capability])) {
    await dispose(raw, timeouts.endMs, log);
    throw refusal(place, `the engine ${definition.name} has no function \`${verbs[capability]}\``);
  }
  if (!published.hasPublished) published.publish(raw.models);
  const facts = { instance: name, capability, timeouts, log };
  const guarded = options.guard === false ? { engine: raw, failures: () => [] } : guardEngine(raw, facts);
  const failures = () => [...guarded.failures(), ...published.failures.map((error) => ({ what: 'models', error }))];
  const availabilityOf = availabilityIn(opened, options.assets);
  return { instance: { name, capability, engine: guarded.engine, published, failures, availabilityOf, log, context } };
}

const verbs = { transcription: 'transcribe', chat: 'complete', speech: 'synthesize' } as const;

/**
 * Throws a `RegistryError` if the engine rejects its options. Returns the error if the engine cannot be created for
 * another reason, unless it is unguarded.
 */
async function create<C extends Capability>(
  definition: EngineDefinition<C>,
  { place, settings: { use: _use, ...settings } }: Listed,
  context: EngineContext,
  options: InstanceOptions,
): Promise<Engines[C] | RegistryError> {
  await checkOptions(place, definition, settings);
  const { createMs, endMs } = timeoutsOf(options);
  const isLate = { now: false };
  const creating = async () => {
    const engine = await definition.create(settings, context);
    if (isLate.now) await dispose(engine, endMs, context.log);
    return engine;
  };
  try {
    return await (options.guard === false ? creating() : within(createMs, creating));
  } catch (cause) {
    isLate.now = true;
    const err = asError(cause);
    if (OptionsError.is(cause)) throw refusal(place, err.message, cause);
    const what = `the engine ${definition.name} could not be created: ${err.message}`;
    if (options.guard === false) throw refusal(place, what, cause);
    return refusal(place, what, err);
  }
}
