/**
 * The engine registry: the instances of the settings and the models that they serve. Invalid engine settings stop the
 * start here; the message shows the valid names.
 */
import type { Capability, Finding } from '../../../engines/contract/index.ts';
import type { EngineInstances } from '../../settings/load.ts';
import { Assets } from '../assets/assets.ts';
import { capabilities } from './load-definition.ts';
import { listInstances, openInstance, type AnyInstance, type Instance, type InstanceOptions } from './open-instance.ts';
import { combined, refusal, type RegistryError } from './registry-error.ts';
import { ServedModels, type ServedModel } from './served-models.ts';

export interface RegistryOptions extends Omit<InstanceOptions, 'assets'> {
  readonly instances: EngineInstances;
  /** The default models from the settings. */
  readonly defaults: Readonly<Partial<Record<Capability, string>>>;
  /** TTS_VOICE. */
  readonly defaultVoice?: string | undefined;
}

/** Throws a `RegistryError`, after disposing of all engines. */
export async function createRegistry(options: RegistryOptions): Promise<Registry> {
  // In parallel, so that slow engines do not add up.
  const assets = new Assets();
  const listed = listInstances(options.instances);
  const opened = await Promise.all(listed.map((one) => openInstance(one, { ...options, assets })));
  const instances = opened.flatMap((one) => one.instances);
  const registry = new Registry(instances, assets, options);
  try {
    const mistakes = [
      ...opened.flatMap((one) => [...duplicatesIn(one.instances, instances), ...one.mistakes]),
      ...(await registry.clashes()),
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
    return registry;
  } catch (error) {
    await registry[Symbol.asyncDispose]();
    throw error;
  }
}

/** Rejects two engines of one capability under one name: listings and discovered ids could not distinguish them. */
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
    for (const { name, capability, guarded, context } of instances) {
      const groups = guarded.engine.assets ?? [];
      if (context && groups.length > 0) assets.declare({ instance: name, capability, groups, context });
    }
    this.#served = { transcription: served('transcription'), chat: served('chat'), speech: served('speech') };
  }

  /** The models of a capability, and their default. */
  of<C extends Capability>(capability: C): ServedModels<C> {
    return this.#served[capability];
  }

  /** All models of a capability in settings order, with unique ids. */
  models<C extends Capability>(capability: C): Promise<readonly ServedModel<C>[]> {
    return this.#served[capability].list();
  }

  /** Mistakes across engines: duplicate model ids, and a default model that no engine serves. */
  async clashes(): Promise<RegistryError[]> {
    return (await Promise.all(capabilities.map((capability) => this.#served[capability].clashes()))).flat();
  }

  /**
   * Whether each served model was available when it was last asked for. Asks no engine. An engine that fails and serves
   * nothing is listed with the model "".
   */
  lastAvailability(): { readonly engine: string; readonly model: string; readonly available: boolean }[] {
    return this.#instances.flatMap(({ name, capability, guarded }) => {
      const models = this.#served[capability].lastOf(name);
      if (models.length === 0 && guarded.failures().length > 0) return [{ engine: name, model: '', available: false }];
      return models.flatMap(({ id, engineId }) => {
        const available = guarded.lastAvailable(engineId);
        return available === undefined ? [] : [{ engine: name, model: id, available }];
      });
    });
  }

  /** Calls the engines that load something when the service starts. Does not wait. */
  warmUp(): void {
    for (const { capability, guarded } of this.#instances) {
      if (capability === 'transcription') void guarded.engine.warmUp?.();
    }
  }

  /** Findings of the engines on this machine, or of those for one capability. */
  async inspect(only?: Capability): Promise<{ readonly instance: string; readonly findings: readonly Finding[] }[]> {
    const instances = this.#instances.filter(({ capability }) => only === undefined || capability === only);
    return Promise.all(
      instances.map(async ({ name, guarded }) => ({
        instance: name,
        findings: (await guarded.engine.inspect?.()) ?? [],
      })),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.#instances.map(async ({ guarded }) => guarded.engine[Symbol.asyncDispose]?.()));
  }
}

function isOf<C extends Capability>(capability: C) {
  return (instance: AnyInstance): instance is AnyInstance & Instance<C> => instance.capability === capability;
}
