/**
 * The table of the models of one capability: the models that the engines have published, with unique ids and a default.
 */
import type { Availability, Capability, Engines, ModelEntry, SpeakerFinder } from '../../../engines/contract/index.ts';
import { defaultModelSettings, settingsTable } from '../../settings/table.ts';
import { currentKey, type Key } from '../../request-scope.ts';
import type { EngineFailure, Instance } from './instance.ts';
import { validNames } from '../../../lib/did-you-mean.ts';

/** A model that a request may name, and the engine that serves it. */
export interface ServedModel<C extends Capability = Capability> {
  /** The model's id in the API. */
  readonly id: string;
  /** The engine's own id for the model. */
  readonly engineId: string;
  readonly entry: ModelEntry;
  /** The instance's name in the settings. */
  readonly instance: string;
  readonly engine: Engines[C];
  /** Finds the speakers for a model with word timestamps that does not distinguish speakers itself. */
  readonly finder?: SpeakerFinder | undefined;
  /** Whether the model can be used now. */
  readonly availability: Availability;
}

/** The models of every capability. */
export interface Models {
  of<C extends Capability>(capability: C): ServedModels<C>;
}

/** The settings that determine the default model. */
export interface NamedDefault {
  readonly model?: string | undefined;
  /** For speech: TTS_VOICE. */
  readonly voice?: string | undefined;
}

/** As in the API contract. */
const maxIdLength = 256;

class Row<C extends Capability> implements ServedModel<C> {
  readonly id: string;
  readonly #entry: ModelEntry;
  /** The entry that is listed while a finder is available; undefined if a finder cannot improve it. */
  readonly #withSpeakers: ModelEntry | undefined;
  readonly #instance: Instance<C>;
  readonly #findFinder: () => SpeakerFinder | undefined;

  constructor(instance: Instance<C>, entry: ModelEntry, findFinder: () => SpeakerFinder | undefined) {
    const { supports = [] } = entry;
    this.id = entry.discovered ? `${instance.name}/${entry.id}` : entry.id;
    this.#entry = entry;
    this.#instance = instance;
    this.#findFinder = findFinder;
    const lacks = supports.includes('word') && !supports.includes('diarize');
    this.#withSpeakers = lacks ? { ...entry, supports: [...supports, 'diarize'] } : undefined;
  }

  get entry(): ModelEntry {
    return this.finder ? (this.#withSpeakers ?? this.#entry) : this.#entry;
  }

  get finder(): SpeakerFinder | undefined {
    return this.#withSpeakers && this.#findFinder();
  }

  get engineId(): string {
    return this.#entry.id;
  }

  get instance(): string {
    return this.#instance.name;
  }

  get engine(): Engines[C] {
    return this.#instance.engine;
  }

  get availability(): Availability {
    return this.#instance.availabilityOf(this.entry);
  }
}

export class ServedModels<C extends Capability> {
  readonly #capability: C;
  readonly #instances: readonly Instance<C>[];
  readonly #named: NamedDefault;
  #rows: readonly Row<C>[] = [];
  #byId: ReadonlyMap<string, Row<C>> = new Map();
  #candidates: readonly ServedModel<C>[] = [];
  /** Cached per key, because filtering 1,000 models takes longer than the rest of choosing a model. */
  #candidatesOfKeys = new WeakMap<Key, readonly ServedModel<C>[]>();
  /** Models that are not served because their ids are already in use. */
  #shadowed: ReadonlyMap<string, Row<C>>;
  #kept: Row<C> | undefined;

  constructor(capability: C, instances: readonly Instance<C>[], named: NamedDefault) {
    this.#capability = capability;
    this.#instances = instances;
    this.#named = named;
    this.#shadowed = this.#update();
    for (const { published } of instances) published.onChange(() => this.#changed());
  }

  /** All served models, in settings order. */
  get all(): readonly ServedModel<C>[] {
    return this.#rows;
  }

  find(id: string): ServedModel<C> | undefined {
    return this.#byId.get(id);
  }

  /**
   * The default model: the one named in the settings, otherwise the first candidate. For speech, an installed candidate
   * takes precedence; for chat, see `#keptDefault`.
   */
  get default(): ServedModel<C> | undefined {
    const { model: named } = this.#named;
    if (named !== undefined) return this.find(named);
    if (this.#capability === 'chat') return this.#keptDefault();
    return (this.#capability === 'speech' ? firstInstalled(this.#candidates) : undefined) ?? this.#candidates[0];
  }

  /** Keeps a model that this service has installed as the default, whatever other servers list later. */
  #keptDefault(): ServedModel<C> | undefined {
    const kept = this.#kept && this.find(this.#kept.id);
    if (kept && kept.instance === this.#kept?.instance) return kept;
    const [first] = this.#candidates;
    if (first?.entry.needs !== undefined && isInstalled(first)) this.#kept = this.#byId.get(first.id);
    return first;
  }

  /** The candidates for the default model that the API key of the request may use, in order of preference. */
  get candidates(): readonly ServedModel<C>[] {
    const key = currentKey();
    if (!key) return this.#candidates;
    const known = this.#candidatesOfKeys.get(key);
    const candidates = known ?? this.#candidatesAmong(this.#rows.filter(({ id }) => key.mayUseModel(id)));
    if (!known) this.#candidatesOfKeys.set(key, candidates);
    return candidates;
  }

  #candidatesAmong(all: readonly ServedModel<C>[]): readonly ServedModel<C>[] {
    const models = all.filter(({ entry }) => entry.isExplicitOnly !== true);
    if (this.#capability === 'chat') return models;
    const local = models.filter(({ entry }) => entry.local);
    // Never replace a local or possibly local model with a hosted one, even if its engine fails.
    const own = local.length > 0 ? local : models.filter(({ entry }) => entry.mayBeLocal);
    return own.length > 0 || !this.knowsAll ? withVoice(own, this.#named.voice) : models;
  }

  /** True if the settings name the default model. */
  get isNamed(): boolean {
    return this.#named.model !== undefined;
  }

  /** True if every instance has published its list of models. */
  get knowsAll(): boolean {
    return this.#instances.every(({ published }) => published.hasList);
  }

  /** The names of all instances, including those that currently list no models. */
  get instances(): string[] {
    return this.#instances.map(({ name }) => name);
  }

  get failures(): EngineFailure[] {
    return this.#instances.flatMap(({ name, failures }) =>
      failures().map((failure) => ({ instance: name, ...failure })),
    );
  }

  /** Returns the models of an instance. */
  of(instance: string): readonly ServedModel<C>[] {
    return this.#rows.filter((model) => model.instance === instance);
  }

  /** Returns mistakes that span engines: duplicate model ids, and a default model that no engine serves. */
  clashes(): string[] {
    const models = this.#listed();
    const mistakes = duplicatesOf(this.#capability, models);
    const { model: named } = this.#named;
    if (named === undefined || this.mayServe(named) || models.length === 0) return mistakes;
    if (models.some(({ id }) => id === named)) return mistakes;
    const setting = defaultModelSettings[this.#capability];
    const place = `${settingsTable[setting].env} (in the file: ${setting})`;
    const known = [...new Set(models.map(({ id }) => id))];
    const what = `no engine serves the ${this.#capability} model "${named}"; ${validNames(known, named)}`;
    return [...mistakes, `${place}: ${what}`];
  }

  /** Whether an id may be valid although it is not listed now: lists may arrive later or change. */
  mayServe(id: string): boolean {
    return !this.knowsAll || this.#instances.some(({ name }) => id.startsWith(`${name}/`));
  }

  readonly #findFinder = (): SpeakerFinder | undefined => {
    for (const { engine } of this.#instances) {
      const finder = 'speakers' in engine ? engine.speakers : undefined;
      if (finder?.maxMs !== undefined) return finder;
    }
    return undefined;
  };

  /**
   * Omits entries whose id in the API, which may be prefixed with the instance name, would be too long for a request.
   */
  #listed(): Row<C>[] {
    const rows = this.#instances.flatMap((one) =>
      one.published.entries.map((entry) => new Row(one, entry, this.#findFinder)),
    );
    return rows.filter(({ id }) => id.length <= maxIdLength);
  }

  #changed(): void {
    const before = this.#shadowed;
    this.#shadowed = this.#update();
    for (const [name, { id, instance }] of this.#shadowed) {
      if (before.has(name)) continue;
      const log = this.#instances.find((one) => one.name === instance)?.log;
      log?.warn({ model: id }, 'a model is not served: its id is in use');
    }
  }

  /** Returns the models that are not served. */
  #update(): ReadonlyMap<string, Row<C>> {
    const listed = this.#listed();
    this.#byId = withUniqueIds(listed, this.#byId);
    const isServed = (row: Row<C>) => this.#byId.get(row.id) === row;
    this.#rows = listed.filter(isServed);
    this.#candidates = this.#candidatesAmong(this.#rows);
    this.#candidatesOfKeys = new WeakMap();
    const shadowed = listed.filter((row) => !isServed(row));
    return new Map(shadowed.map((row) => [`${row.instance} ${row.id}`, row]));
  }
}

/** Returns the models that list the voice, or all models if none does. */
function withVoice<C extends Capability>(models: readonly ServedModel<C>[], voice: string | undefined) {
  if (voice === undefined) return models;
  const able = models.filter(({ entry }) => entry.voices?.some(({ id }) => id === voice));
  return able.length > 0 ? able : models;
}

/** Availability codes of a model that is not installed. */
const notInstalled: readonly Availability['code'][] = ['preparing', 'program-missing', 'model-file-missing'];

export const isInstalled = ({ availability }: Pick<ServedModel, 'availability'>): boolean =>
  !notInstalled.includes(availability.code);

export function firstInstalled<C extends Capability>(models: readonly ServedModel<C>[]): ServedModel<C> | undefined {
  return models.find(isInstalled);
}

function duplicatesOf(capability: Capability, models: readonly ServedModel[]): string[] {
  const owners = new Map<string, string>();
  const mistakes: string[] = [];
  for (const { id, instance } of models) {
    const other = owners.get(id);
    owners.set(id, instance);
    if (other === undefined) continue;
    const isOwn = other === instance;
    const who = isOwn ? `engines.${instance} lists it twice` : `engines.${other} and engines.${instance} both list it`;
    mistakes.push(`the ${capability} model "${id}" must be unique: ${who}`);
  }
  return mistakes;
}

/**
 * Returns one row for each id. The instance that already serves an id keeps it; otherwise the first instance gets it. A
 * changed list must not redirect requests to another instance.
 */
function withUniqueIds<C extends Capability>(
  rows: readonly Row<C>[],
  before: ReadonlyMap<string, Row<C>>,
): ReadonlyMap<string, Row<C>> {
  const chosen = new Map<string, Row<C>>();
  for (const row of rows) {
    const first = chosen.get(row.id);
    const isOwner = before.get(row.id)?.instance === row.instance && first?.instance !== row.instance;
    if (first === undefined || isOwner) chosen.set(row.id, row);
  }
  return chosen;
}
