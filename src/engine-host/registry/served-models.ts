/** The models of one capability: what its instances list, with unique ids and a default. */
import type { Availability, Capability, Engine, Engines, ModelEntry } from '../../../engines/contract/index.ts';
import { validNames } from '../../../lib/did-you-mean.ts';
import { defaultModelSettings, settingsTable } from '../../settings/table.ts';
import type { GuardedFailure } from '../guard/guard.ts';
import type { Instance } from './open-instance.ts';
import { explained, RegistryError } from './registry-error.ts';

/** A model that a request may name, and the engine that serves it. */
export interface ServedModel<C extends Capability = Capability> {
  /** The id in the API. */
  readonly id: string;
  /** The id in the engine. */
  readonly engineId: string;
  readonly entry: ModelEntry;
  /** The instance's name in the settings. */
  readonly instance: string;
  readonly engine: Engines[C];
}

interface Installed<C extends Capability> {
  readonly candidates: readonly ServedModel<C>[];
  readonly model: ServedModel<C> | undefined;
  /** In milliseconds of `performance.now()`. */
  readonly until: number;
}

/** The settings for the default model. */
export interface NamedDefault {
  readonly model?: string | undefined;
  /** For speech: TTS_VOICE. */
  readonly voice?: string | undefined;
}

/** A current failure of an engine. */
export interface EngineFailure extends GuardedFailure {
  readonly instance: string;
}

/** As in the contract of the API. */
const longestId = 256;

/** The models served now, cached until the list of an instance changes. */
interface Served<C extends Capability> {
  readonly lists: readonly (readonly ModelEntry[])[];
  readonly models: readonly ServedModel<C>[];
  /** Models not served because another instance listed the id first. */
  readonly shadowed: ReadonlySet<string>;
}

export class ServedModels<C extends Capability> {
  readonly #capability: C;
  readonly #instances: readonly Instance<C>[];
  readonly #named: NamedDefault;
  #served: Served<C> | undefined;
  #installed: Installed<C> | undefined;
  #kept: ServedModel<C> | undefined;

  constructor(capability: C, instances: readonly Instance<C>[], named: NamedDefault) {
    this.#capability = capability;
    this.#instances = instances;
    this.#named = named;
  }

  /** In settings order. */
  async list(): Promise<readonly ServedModel<C>[]> {
    const lists = await Promise.all(this.#instances.map(({ guarded }) => guarded.engine.models()));
    const last = this.#served;
    if (last && lists.every((list, index) => list === last.lists[index])) return last.models;
    return this.#serve(lists);
  }

  #serve(lists: Served<C>['lists']): readonly ServedModel<C>[] {
    const last = this.#served;
    const all = this.#toServed(lists);
    const models = withUniqueIds(all, last?.models ?? []);
    const served = new Set(models);
    const shadowed = new Set<string>();
    for (const model of all) {
      if (served.has(model)) continue;
      const { id, instance } = model;
      const name = `${instance} ${id}`;
      shadowed.add(name);
      if (last?.shadowed.has(name)) continue;
      const log = this.#instances.find((one) => one.name === instance)?.log;
      log?.warn({ model: id }, 'a model is not served: its id is in use');
    }
    this.#served = { lists, models, shadowed };
    return models;
  }

  #toServed(lists: Served<C>['lists']): ServedModel<C>[] {
    return this.#instances
      .flatMap(({ name, guarded: { engine } }, index) =>
        (lists[index] ?? []).map((entry) => ({
          id: entry.discovered ? `${name}/${entry.id}` : entry.id,
          ...{ engineId: entry.id, entry, instance: name, engine },
        })),
      )
      .filter(({ id }) => id.length <= longestId); // with the name of its instance, the id is too long for a request
  }

  /**
   * Returns the default model: that of the settings, else the first candidate; for speech, the first candidate that is
   * installed.
   */
  async defaultOf(models: readonly ServedModel<C>[]): Promise<ServedModel<C> | undefined> {
    const { model: named } = this.#named;
    if (named !== undefined) return models.find(({ id }) => id === named);
    const candidates = this.defaultCandidates(models);
    if (this.#capability === 'chat') return this.#keptDefault(candidates);
    return (this.#capability === 'speech' ? await this.#firstInstalled(candidates) : undefined) ?? candidates[0];
  }

  /** Keeps a model that this service has installed as the default, whatever other servers list later. */
  async #keptDefault(candidates: readonly ServedModel<C>[]): Promise<ServedModel<C> | undefined> {
    const kept = candidates.find(({ id, instance }) => id === this.#kept?.id && instance === this.#kept.instance);
    const [first] = candidates;
    if (kept || first?.entry.needs === undefined) return kept ?? first;
    if (await this.#firstInstalled([first])) this.#kept = first;
    return first;
  }

  /** The answer is cached for a second, because chats ask as well. */
  async #firstInstalled(candidates: readonly ServedModel<C>[]): Promise<ServedModel<C> | undefined> {
    const now = performance.now();
    const last = this.#installed;
    if (last && now < last.until && sameModels(last.candidates, candidates)) return last.model;
    const model = await firstInstalled(candidates);
    this.#installed = { candidates, model, until: now + 1_000 };
    return model;
  }

  /** The candidates for the default model if the settings name none, in order of preference. */
  defaultCandidates(all: readonly ServedModel<C>[]): readonly ServedModel<C>[] {
    const models = all.filter(({ entry }) => entry.isExplicitOnly !== true);
    if (this.#capability === 'chat') return models;
    const local = models.filter(({ entry }) => entry.local);
    // Never replace a local model whose engine fails, or of which it is unknown that it is local, with a hosted one.
    const own = local.length > 0 ? local : models.filter(({ entry }) => entry.mayBeLocal);
    return own.length > 0 || !this.knowsAll ? withVoice(own, this.#named.voice) : models;
  }

  /** Returns the default model of the last list. Does not call the engines. */
  async lastDefault(): Promise<ServedModel<C> | undefined> {
    return this.#served && this.defaultOf(this.#served.models);
  }

  /** True if the settings name the default model. */
  get isNamed(): boolean {
    return this.#named.model !== undefined;
  }

  /** True if every instance has listed its models. */
  get knowsAll(): boolean {
    return this.#instances.every(({ guarded }) => guarded.hasList);
  }

  /** The names of the instances, even of those that list no model now. */
  get instances(): string[] {
    return this.#instances.map(({ name }) => name);
  }

  get failures(): EngineFailure[] {
    return this.#instances.flatMap(({ name, guarded }) =>
      guarded.failures().map((failure) => ({ instance: name, ...failure })),
    );
  }

  /** The models of an instance in the last list. */
  lastOf(instance: string): readonly ServedModel<C>[] {
    return this.#served?.models.filter((model) => model.instance === instance) ?? [];
  }

  /** Mistakes across engines: duplicate model ids, and a default model that no engine serves. */
  async clashes(): Promise<RegistryError[]> {
    const lists = await Promise.all(this.#instances.map(({ name, guarded }) => listOf(name, guarded.engine)));
    const models = this.#toServed(lists);
    const mistakes = duplicatesOf(this.#capability, models);
    if (mistakes.length === 0) this.#serve(lists);
    const { model: named } = this.#named;
    if (named === undefined || this.mayServe(named) || models.length === 0) return mistakes;
    if (models.some(({ id }) => id === named)) return mistakes;
    const setting = defaultModelSettings[this.#capability];
    const place = `${settingsTable[setting].env} (in the file: ${setting})`;
    const known = [...new Set(models.map(({ id }) => id))];
    const what = `no engine serves the ${this.#capability} model "${named}"; ${validNames(known, named)}`;
    return [...mistakes, new RegistryError(`${place}: ${what}`)];
  }

  /** An id that is not listed now may still be valid: lists may arrive later or change. */
  mayServe(id: string): boolean {
    return !this.knowsAll || this.#instances.some(({ name }) => id.startsWith(`${name}/`));
  }
}

const sameModels = (one: readonly ServedModel[], other: readonly ServedModel[]): boolean =>
  one.length === other.length && one.every((model, index) => model === other[index]);

/** Returns the models that list the voice, or all models if none does. */
function withVoice<C extends Capability>(models: readonly ServedModel<C>[], voice: string | undefined) {
  const able = models.filter(({ entry }) => entry.voices?.some(({ id }) => id === voice));
  return able.length > 0 ? able : models;
}

/** Availability codes of a model that the operator has to install. */
export const notInstalled: readonly Availability['code'][] = ['preparing', 'program-missing', 'model-file-missing'];

/** Asks one engine after the other, because the first one usually suffices. */
export async function firstInstalled<C extends Capability>(
  models: readonly ServedModel<C>[],
): Promise<ServedModel<C> | undefined> {
  for (const model of models) if (!notInstalled.includes((await availabilityOf(model)).code)) return model;
  return undefined;
}

function duplicatesOf(capability: Capability, models: readonly ServedModel[]): RegistryError[] {
  const owners = new Map<string, string>();
  const mistakes: RegistryError[] = [];
  for (const { id, instance } of models) {
    const other = owners.get(id);
    owners.set(id, instance);
    if (other === undefined) continue;
    const isOwn = other === instance;
    const who = isOwn ? `engines.${instance} lists it twice` : `engines.${other} and engines.${instance} both list it`;
    mistakes.push(new RegistryError(`the ${capability} model "${id}" must be unique: ${who}`));
  }
  return mistakes;
}

/**
 * Makes ids unique. The instance that already serves an id keeps it; otherwise the first instance gets it. A changed
 * list must not redirect requests.
 */
function withUniqueIds<C extends Capability>(
  models: readonly ServedModel<C>[],
  before: readonly ServedModel<C>[],
): readonly ServedModel<C>[] {
  const owners = new Map(before.map(({ id, instance }) => [id, instance]));
  const chosen = new Map<string, ServedModel<C>>();
  for (const model of models) {
    const first = chosen.get(model.id);
    const isOwner = owners.get(model.id) === model.instance && first?.instance !== model.instance;
    if (first === undefined || isOwner) chosen.set(model.id, model);
  }
  return models.filter((model) => chosen.get(model.id) === model);
}

async function listOf(name: string, engine: Engine): Promise<readonly ModelEntry[]> {
  return explained(name, 'cannot list its models', async () => {
    const list: unknown = await engine.models();
    if (!Array.isArray(list)) throw new TypeError('`models()` did not return an array');
    return list as readonly ModelEntry[];
  });
}

/** Returns the engine's availability of the model, or `engine-failed` if the engine does not answer. */
export async function availabilityOf({ engine, engineId }: ServedModel): Promise<Availability> {
  return engine.availability(engineId);
}
