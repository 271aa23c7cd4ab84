/**
 * The engine registry: the instances from the settings and the models that they serve. Invalid engine settings abort
 * startup here; the message lists the valid names.
 */
import type { Capability, Finding } from '../../../engines/contract/index.ts';
import type { EngineInstances } from '../../settings/engines.ts';
import { Assets } from '../assets/assets.ts';
import { capabilities } from './load-definition.ts';
import type { AnyInstance, Instance } from '../models/instance.ts';
import { listInstances, openInstance, type InstanceOptions } from './open-instance.ts';
import { combined, refusal, RegistryError } from './registry-error.ts';
import { ServedModels } from '../models/served-models.ts';

/** Milliseconds between rechecks. A model that another process has installed becomes usable within this time. */
const recheckEveryMs = 2_000;

export interface RegistryOptions extends Omit<InstanceOptions, 'assets'> {
  readonly instances: EngineInstances;
  /** The default models from the settings. */
  readonly defaults: Readonly<Partial<Record<Capability, string>>>;
  /** TTS_VOICE. */
  readonly defaultVoice?: string | undefined;
}

/** Throws a `RegistryError` after disposing of all engines. */
export async function createRegistry(options: RegistryOptions): Promise<Registry> {
  // In parallel, so that the delays of slow engines do not add up.
  const assets = new Assets();
  const listed = listInstances(options.instances);
  const opened = await Promise.all(listed.map((one) => openInstance(one, { ...options, assets })));
  const instances = opened.flatMap((one) => one.instances);
  const registry = new Registry(instances, assets, options);
  try {
    const mistakes = [
      ...opened.flatMap((one) => [...duplicatesIn(one.instances, instances), ...one.mistakes]),
      ...capabilities.flatMap((capability) =>
        registry
          .of(capability)
          .clashes()
          .map((mistake) => new RegistryError(mistake)),
      ),
    ];
    const failures = opened.flatMap((one) => one.failures);
    const failed = new Set(failures.flatMap((one) => one.instances));
    const servesNothing = failures.length > 0 && instances.every((one) => failed.has(one));
    if (mistakes.length > 0 || servesNothing) throw combined([...mistakes, ...failures.map(({ error }) => error)]);
    for (const {
      error,
      instances: [one],
    } of failures) {
      one?.log.error({ err: error.cause }, 'the engine could not be created; it is unavailable until the next start');
    }
    await assets.check();
    return registry;
  } catch (error) {
    await registry[Symbol.asyncDispose]();
    throw error;
  }
}

/**
 * Rejects two engines with the same capability and name, because listings and discovered ids could not distinguish
 * them.
 */
function duplicatesIn(instances: readonly AnyInstance[], all: readonly AnyInstance[]): RegistryError[] {
  return instances
    .filter((one) => one !== all.find(({ name, capability }) => name === one.name && capability === one.capability))
    .map(({ name, capability }) => refusal(name, `two engines for ${capability}; give each its own name`));
}

export class Registry {
  readonly #instances: readonly AnyInstance[];
  /** The assets of all engines. */
  readonly assets: Assets;
  readonly #served: { readonly [C in Capability]: ServedModels<C> };
  #looking: NodeJS.Timeout | undefined;

  constructor(
    instances: readonly AnyInstance[],
    assets: Assets,
    { defaults, defaultVoice }: Pick<RegistryOptions, 'defaults' | 'defaultVoice'>,
  ) {
    const served = <C extends Capability>(capability: C) =>
      new ServedModels<C>(capability, instances.filter(isOf(capability)), {
        model: defaults[capability],
        ...(capability === 'speech' && { voice: defaultVoice }),
      });
    this.#instances = instances;
    this.assets = assets;
    for (const { name, capability, engine, context } of instances) {
      const { assets: groups = [] } = engine;
      const recheck = async () => engine.recheck?.();
      if (context && groups.length > 0) assets.declare({ instance: name, capability, groups, context, recheck });
    }
    this.#served = { transcription: served('transcription'), chat: served('chat'), speech: served('speech') };
  }

  /** Returns the models of a capability, including the default. */
  of<C extends Capability>(capability: C): ServedModels<C> {
    return this.#served[capability];
  }

  /**
   * Returns for each served model whether it can be used. An engine that fails and serves nothing is listed with the
   * model "".
   */
  availability(): { readonly engine: string; readonly model: string; readonly available: boolean }[] {
    return this.#instances.flatMap(({ name, capability, failures }) => {
      const models = this.#served[capability].of(name);
      if (models.length === 0 && failures().length > 0) return [{ engine: name, model: '', available: false }];
      return models.map(({ id, availability: { available } }) => ({ engine: name, model: id, available }));
    });
  }

  /** From now on, rechecks every 2 s for changes that the engines do not notice themselves. */
  keepLooking(): void {
    const next = () => {
      this.#looking = setTimeout(() => void this.recheck().then(next), recheckEveryMs).unref();
    };
    next();
  }

  /** Never rejects. */
  async recheck(): Promise<void> {
    await Promise.all(this.#instances.map(async ({ engine }) => engine.recheck?.()));
    await this.assets.check();
  }

  /** Lets transcription engines load their models at startup. Does not wait. */
  warmUp(): void {
    for (const { capability, engine } of this.#instances) {
      if (capability === 'transcription') void engine.warmUp?.();
    }
  }

  /** Resolves with the findings of all engines, or of the engines of one capability. */
  async inspect(only?: Capability): Promise<{ readonly instance: string; readonly findings: readonly Finding[] }[]> {
    const instances = this.#instances.filter(({ capability }) => only === undefined || capability === only);
    const found = await Promise.all(
      instances.map(async ({ name, engine }) => ({ instance: name, findings: (await engine.inspect?.()) ?? [] })),
    );
    await this.recheck(); // an inspection calls providers, which may turn out to be unavailable
    return found;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#looking);
    await Promise.allSettled(this.#instances.map(async ({ engine }) => engine[Symbol.asyncDispose]?.()));
  }
}

function isOf<C extends Capability>(capability: C) {
  return (instance: AnyInstance): instance is AnyInstance & Instance<C> => instance.capability === capability;
}
