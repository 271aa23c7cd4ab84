/**
 * The engine registry: the instances of the settings and the models that they serve. Invalid engine settings stop the
 * start here; the message shows the valid names.
 */
import type { Capability, Engine, Finding, Preparation, PrepareCall } from '../../engines/contract/index.ts';
import type { EngineInstances } from '../settings/load.ts';
import { hasFunction } from './guard/guard.ts';
import { messageOf } from '../../lib/errors.ts';
import { capabilities } from './load-definition.ts';
import { listInstances, openInstance, type AnyInstance, type Instance, type InstanceOptions } from './open-instance.ts';
import { PreparationRuns } from './preparation-runs.ts';
import { combined, refusal, type RegistryError } from './registry-error.ts';
import { ServedModels, type ServedModel } from './served-models.ts';

export interface RegistryOptions extends InstanceOptions {
  readonly instances: EngineInstances;
  /** The default models from the settings. */
  readonly defaults: Readonly<Partial<Record<Capability, string>>>;
  /** TTS_VOICE. */
  readonly defaultVoice?: string | undefined;
}

export interface WantedPreparations {
  /** The preparation with this id, in every engine that has it; absent: those that start unasked. */
  readonly id?: string | undefined;
  /** Without `id`: what is wanted besides those. */
  readonly also?: readonly string[];
  /** TRANSCRIBE_SETUP=off: only of engines for chat and speech, and there only what says that it starts unasked. */
  readonly withoutTranscription?: boolean;
}

export interface ListedPreparations {
  readonly instance: string;
  readonly capability: Capability;
  readonly list: readonly Preparation[];
  readonly failure?: string;
}

/** Throws a `RegistryError`, after disposing all engines. */
export async function createRegistry(options: RegistryOptions): Promise<Registry> {
  // In parallel, so that slow engines do not add up.
  const opened = await Promise.all(listInstances(options.instances).map((listed) => openInstance(listed, options)));
  const instances = opened.flatMap((one) => one.instances);
  const registry = new Registry(instances, options);
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
  /** What is being prepared in this process, whoever asked for it. */
  readonly runs = new PreparationRuns();
  readonly #served: { readonly [C in Capability]: ServedModels<C> };

  constructor(
    instances: readonly AnyInstance[],
    { defaults, defaultVoice }: Pick<RegistryOptions, 'defaults' | 'defaultVoice'>,
  ) {
    const served = <C extends Capability>(capability: C) =>
      new ServedModels<C>(capability, instances.filter(isOf(capability)), {
        model: defaults[capability],
        ...(capability === 'speech' && { voice: defaultVoice }),
      });
    this.#instances = instances;
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

  /**
   * Prepares what is wanted of every engine; the failure of one does not stop the others. `onBegun` is called once all of
   * them have begun, so that their availability says it.
   */
  async prepare(
    { progress, ...call }: Omit<PrepareCall, 'id'>,
    { onBegun, ...wanted }: WantedPreparations & { readonly onBegun?: (() => void) | undefined } = {},
  ): Promise<PromiseSettledResult<void>[]> {
    const able = this.#instances.filter(
      ({ capability, guarded }) =>
        hasFunction(guarded.engine, 'prepare') && !(wanted.withoutTranscription && capability === 'transcription'),
    );
    const begun = able.map(async ({ name, guarded: { engine } }) => {
      const each = { ...call, progress: (step: string, done: number | null) => progress(`${name}: ${step}`, done) };
      const running = prepareEach(engine, await wantedIds(engine, wanted), each, this.runs);
      running.catch(ignore); // it may fail before the others have begun
      return { running };
    });
    await Promise.allSettled(begun);
    onBegun?.();
    return Promise.allSettled(begun.map(async (one) => (await one).running));
  }

  /** What can be had for the engines, or why an engine does not say. */
  async preparations(): Promise<ListedPreparations[]> {
    return Promise.all(
      this.#able('preparations').map(async ({ name: instance, capability, guarded: { engine } }) => {
        try {
          return { instance, capability, list: (await engine.preparations?.()) ?? [] };
        } catch (error) {
          return { instance, capability, list: [], failure: messageOf(error) };
        }
      }),
    );
  }

  /** Removes a downloaded model. Rejects with the reason why it stays. */
  async remove(id: string, signal: AbortSignal): Promise<void> {
    const listed = await this.preparations();
    for (const [index, { guarded }] of this.#able('preparations').entries()) {
      const isModel = listed[index]?.list.some((one) => one.id === id && one.model !== undefined) ?? false;
      if (isModel) await guarded.engine.remove?.(id, { signal });
    }
  }

  #able(method: string): readonly AnyInstance[] {
    return this.#instances.filter(({ guarded }) => hasFunction(guarded.engine, method));
  }

  /** For the engines that load something when the service starts; waits for nothing. */
  warmUp(): void {
    for (const { capability, guarded } of this.#instances) {
      if (capability === 'transcription') void guarded.engine.warmUp?.();
    }
  }

  /** Findings of the engines on this machine. */
  async inspect(): Promise<{ readonly instance: string; readonly findings: readonly Finding[] }[]> {
    return Promise.all(
      this.#instances.map(async ({ name, guarded }) => ({
        instance: name,
        findings: (await guarded.engine.inspect?.()) ?? [],
      })),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.#instances.map(async ({ guarded }) => guarded.engine[Symbol.asyncDispose]?.()));
  }
}

async function prepareEach(
  engine: Engine,
  ids: readonly (string | undefined)[],
  call: PrepareCall,
  runs: PreparationRuns,
): Promise<void> {
  for (const id of ids) {
    if (id === undefined) await engine.prepare?.(call);
    else await runs.run(id, call, async (linked) => engine.prepare?.({ ...call, ...linked, id }));
  }
}

/** Undefined: the whole of an engine that names no parts. */
async function wantedIds(engine: Engine, wanted: WantedPreparations) {
  const { id, withoutTranscription } = wanted;
  if (engine.preparations === undefined) return id === undefined && !withoutTranscription ? [undefined] : [];
  const list = await engine.preparations();
  return list.filter((one) => isWanted(one, wanted)).map((one) => one.id);
}

export function isWanted(one: Preparation, { id, also = [] }: WantedPreparations): boolean {
  return id === undefined ? one.atStart === true || also.includes(one.id) : one.id === id;
}

function isOf<C extends Capability>(capability: C) {
  return (instance: AnyInstance): instance is AnyInstance & Instance<C> => instance.capability === capability;
}

function ignore(): void {
  // Settled later.
}
