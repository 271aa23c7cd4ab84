/**
 * The engine registry: resolves engines by name, validates their definitions and options, creates them and lists their
 * models. Invalid engine settings stop the start here; the message shows the valid names.
 */
import { readdir, readFile, stat } from 'node:fs/promises';
import { createRequire, findPackageJSON } from 'node:module';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import {
  OptionsError,
  type Availability,
  type Capability,
  type Engine,
  type EngineContext,
  type EngineDefinition,
  type Engines,
  type Finding,
  type Logger,
  type ModelEntry,
  type PrepareCall,
  type TranscriptionEngine,
} from '../../engines/contract/index.ts';
import { provideEngineContract } from './engine-import.ts';
import { didYouMean } from '../../lib/did-you-mean.ts';
import {
  dispose,
  failedEngine,
  guardEngine,
  hasFunction,
  unguarded,
  withEngine,
  within,
  type Guarded,
} from './guard/guard.ts';
import { readable } from './guard/failures.ts';
import { defaultLimits, type GuardLimits } from './guard/limits.ts';
import type { EngineInstances, InstanceSettings } from '../settings/load.ts';
import { describeErrors, explainable } from '../settings/schema-errors.ts';
import { settingsTable } from '../settings/table.ts';

export type { GuardLimits };

export const capabilities = ['transcription', 'chat', 'speech'] as const satisfies readonly Capability[];

export interface RegistryOptions {
  readonly instances: EngineInstances;
  /** Relative `use:` paths and packages are resolved from this directory. */
  readonly baseDir: string;
  /** The folder with one subfolder per built-in engine. */
  readonly builtIns?: string;
  /** The default models from the settings; unset: the first local entry, for chat the first. */
  readonly defaults: Readonly<Partial<Record<Capability, string>>>;
  /** Creates the context of an instance. */
  readonly contextFor: (instance: string) => EngineContext;
  /** Overrides of the default timeouts. */
  readonly limits?: Partial<GuardLimits> | undefined;
  /** Replaces a transcription engine by one whose work is done on other machines (src/fleet). */
  readonly elsewhere?: ((instance: string, engine: TranscriptionEngine) => Promise<TranscriptionEngine>) | undefined;
  /** False only for the conformance kit, which must see the unguarded behavior of an engine. */
  readonly guard?: boolean | undefined;
}

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

/** Invalid engine settings; the message has one line per mistake. */
export class RegistryError extends Error {
  override readonly name = 'RegistryError';
}

interface Instance {
  readonly name: string;
  readonly capability: Capability;
  readonly guarded: Guarded;
  readonly log: Logger;
}

/** A current failure of an engine. */
export interface EngineFailure {
  readonly instance: string;
  readonly finding: Finding;
}

/** As in the contract of the API. */
const longestId = 256;

/** The setting for the default model. */
const defaultSettings = { transcription: 'transcribeModel', chat: 'chatModel', speech: 'ttsModel' } as const;

const builtInFolder = join(import.meta.dirname, '../../engines');

/** Throws a `RegistryError`, after disposing all engines. */
export async function createRegistry(options: RegistryOptions): Promise<Registry> {
  // In parallel, so that slow engines do not add up.
  const opened = await Promise.all(
    listInstances(options.instances).map(async (listed) => ({ ...listed, ...(await openInstance(listed, options)) })),
  );
  const instances = opened.flatMap((one) => one.instances);
  const registry = new Registry(instances, options.defaults);
  try {
    const mistakes = [
      ...opened.flatMap((one) => [...duplicatesIn(one.instances, instances), ...one.mistakes]),
      ...(await registry.clashes()),
    ];
    const failures = opened.flatMap((one) => one.failures);
    const servesNothing = failures.length > 0 && failures.length === instances.length;
    if (mistakes.length > 0 || servesNothing) throw combined([...mistakes, ...failures.map(({ error }) => error)]);
    for (const { error, log } of failures) {
      log.error({ err: error.cause }, 'the engine could not be created; it is unavailable until the next start');
    }
    return registry;
  } catch (error) {
    await registry[Symbol.asyncDispose]();
    throw error;
  }
}

/** Joins the messages into one error. */
function combined(errors: readonly RegistryError[]): RegistryError {
  const [first] = errors;
  if (first !== undefined && errors.length === 1) return first;
  return new RegistryError(errors.map(({ message }) => message).join('\n'));
}

/** Rejects two engines of one capability under one name: listings and discovered ids could not distinguish them. */
function duplicatesIn(instances: readonly Instance[], all: readonly Instance[]): RegistryError[] {
  return instances
    .filter((one) => {
      const first = all.find(({ name, capability }) => name === one.name && capability === one.capability);
      return first !== one;
    })
    .map(({ name, capability }) => refusal(name, `two engines for ${capability}; give each its own name`));
}

/** The models served now, cached until the list of an instance changes. */
interface Served<C extends Capability> {
  readonly lists: readonly (readonly ModelEntry[])[];
  readonly models: readonly ServedModel<C>[];
  /** Models not served because another instance listed the id first. */
  readonly rivals: ReadonlySet<string>;
}

export class Registry {
  readonly #instances: readonly Instance[];
  readonly #defaults: RegistryOptions['defaults'];
  readonly #served: { [C in Capability]?: Served<C> } = {};

  constructor(instances: readonly Instance[], defaults: RegistryOptions['defaults']) {
    this.#instances = instances;
    this.#defaults = defaults;
  }

  /** All models of a capability in settings order, with unique ids. */
  async models<C extends Capability>(capability: C): Promise<readonly ServedModel<C>[]> {
    const instances = this.#for(capability);
    const lists = await Promise.all(instances.map(({ guarded }) => guarded.engine.models()));
    const last = this.#served[capability];
    if (last && lists.every((list, index) => list === last.lists[index])) return last.models;
    return this.#serve(capability, instances, lists);
  }

  #serve<C extends Capability>(
    capability: C,
    instances: readonly Instance[],
    lists: Served<C>['lists'],
  ): readonly ServedModel<C>[] {
    const last: Served<C> | undefined = this.#served[capability];
    const all = toServed<C>(instances, lists);
    const models = withoutRivals(all, last?.models ?? []);
    const kept = new Set(models);
    const rivals = new Set<string>();
    for (const model of all) {
      if (kept.has(model)) continue;
      const { id, instance } = model;
      const rival = `${instance} ${id}`;
      rivals.add(rival);
      if (last?.rivals.has(rival)) continue;
      const log = instances.find(({ name }) => name === instance)?.log;
      log?.warn({ model: id }, 'a model is not served: its id is in use');
    }
    this.#served[capability] = { lists, models, rivals } as unknown as Served<never>;
    return models;
  }

  /** The default model: the one in the settings, else the first local one, for chat the first. */
  defaultOf<C extends Capability>(capability: C, models: readonly ServedModel<C>[]): ServedModel<C> | undefined {
    const named = this.#defaults[capability];
    return named === undefined ? this.standIns(capability, models)[0] : models.find(({ id }) => id === named);
  }

  /** The models that may be the default if the settings name none, the first choice first. */
  standIns<C extends Capability>(capability: C, models: readonly ServedModel<C>[]): readonly ServedModel<C>[] {
    if (capability === 'chat') return models;
    const local = models.filter(({ entry }) => entry.local);
    // Never replace a local model whose engine fails with a hosted one.
    return local.length > 0 || !this.knowsAll(capability) ? local : models;
  }

  /** The default model of the last list, without a call to any engine. */
  lastDefaultOf(capability: Capability): ServedModel | undefined {
    const last = this.#served[capability];
    return last && this.defaultOf(capability, last.models);
  }

  /** Whether the models of every instance are known. */
  knowsAll(capability: Capability): boolean {
    return this.#for(capability).every(({ guarded }) => guarded.hasList);
  }

  /** Mistakes across engines: duplicate model ids, and a default model that no engine serves. */
  async clashes(): Promise<RegistryError[]> {
    return (await Promise.all(capabilities.map((capability) => this.#clashesOf(capability)))).flat();
  }

  async #clashesOf(capability: Capability): Promise<RegistryError[]> {
    const mistakes: RegistryError[] = [];
    const instances = this.#for(capability);
    const lists = await Promise.all(instances.map(({ name, guarded }) => listOf(name, guarded.engine)));
    const models = toServed(instances, lists);
    const owners = new Map<string, string>();
    for (const { id, instance } of models) {
      const other = owners.get(id);
      if (other !== undefined) {
        const who =
          other === instance
            ? `engines.${instance} lists it twice`
            : `engines.${other} and engines.${instance} both list it`;
        mistakes.push(new RegistryError(`the ${capability} model "${id}" must be unique: ${who}`));
      }
      owners.set(id, instance);
    }
    if (mistakes.length === 0) this.#serve(capability, instances, lists);
    const named = this.#defaults[capability];
    if (named === undefined || this.#mayServe(capability, named) || models.length === 0) return mistakes;
    if (!this.defaultOf(capability, models)) {
      const { env } = settingsTable[defaultSettings[capability]];
      const place = `${env} (in the file: ${defaultSettings[capability]})`;
      const hint = validNames([...owners.keys()], named);
      mistakes.push(new RegistryError(`${place}: no engine serves the ${capability} model "${named}"; ${hint}`));
    }
    return mistakes;
  }

  /** The names of the instances; they may list no model now. */
  instancesFor(capability: Capability): string[] {
    return this.#for(capability).map(({ name }) => name);
  }

  /** The current failures of the engines. */
  failuresOf(capability: Capability): EngineFailure[] {
    return this.#for(capability).flatMap(({ name, guarded }) =>
      guarded.failures().map((finding) => ({ instance: name, finding })),
    );
  }

  /**
   * Whether each served model was available when it was last asked for. Asks no engine. An engine that fails and serves
   * nothing is listed with the model "".
   */
  lastAvailability(): { readonly engine: string; readonly model: string; readonly available: boolean }[] {
    return this.#instances.flatMap(({ name, capability, guarded }) => {
      const models = this.#served[capability]?.models.filter(({ instance }) => instance === name) ?? [];
      if (models.length === 0 && guarded.failures().length > 0) return [{ engine: name, model: '', available: false }];
      return models.flatMap(({ id, engineId }) => {
        const available = guarded.lastAvailable(engineId);
        return available === undefined ? [] : [{ engine: name, model: id, available }];
      });
    });
  }

  #for(capability: Capability): readonly Instance[] {
    return this.#instances.filter((instance) => instance.capability === capability);
  }

  /** Lists may arrive later or change: an id that is not listed now may still be valid. */
  #mayServe(capability: Capability, id: string): boolean {
    return !this.knowsAll(capability) || this.#for(capability).some(({ name }) => id.startsWith(`${name}/`));
  }

  /** Runs `prepare` of every engine; the failure of one does not stop the others. */
  async prepare({ signal, progress }: PrepareCall): Promise<PromiseSettledResult<void>[]> {
    const able = this.#instances.filter(({ guarded }) => hasFunction(guarded.engine, 'prepare'));
    return Promise.allSettled(
      able.map(async ({ name, guarded }) =>
        guarded.engine.prepare?.({ signal, progress: (step, fraction) => progress(`${name}: ${step}`, fraction) }),
      ),
    );
  }

  /** What the engines found on this machine. */
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

function toServed<C extends Capability>(
  instances: readonly Instance[],
  lists: readonly (readonly ModelEntry[])[],
): ServedModel<C>[] {
  return instances
    .flatMap(({ name, guarded }, index) =>
      (lists[index] ?? []).map((entry) => ({
        id: entry.discovered ? `${name}/${entry.id}` : entry.id,
        engineId: entry.id,
        entry,
        instance: name,
        engine: guarded.engine as Engines[C],
      })),
    )
    .filter(({ id }) => id.length <= longestId); // with the name of its instance, the id is too long for a request
}

/**
 * Makes ids unique. The instance that already serves an id keeps it, otherwise the first one gets it: a changed list must
 * not redirect requests.
 */
function withoutRivals<C extends Capability>(
  models: readonly ServedModel<C>[],
  before: readonly ServedModel<C>[],
): readonly ServedModel<C>[] {
  const owners = new Map(before.map(({ id, instance }) => [id, instance]));
  const chosen = new Map<string, ServedModel<C>>();
  for (const model of models) {
    const rival = chosen.get(model.id);
    const isOwner = owners.get(model.id) === model.instance && rival?.instance !== model.instance;
    if (rival === undefined || isOwner) chosen.set(model.id, model);
  }
  return models.filter((model) => chosen.get(model.id) === model);
}

/** The engine's availability of the model; `engine-failed` if the engine does not answer. */
export async function availabilityOf({ engine, engineId }: ServedModel): Promise<Availability> {
  return engine.availability(engineId);
}

/** Flattens the instances; `place` is the path in the settings, for messages. */
function listInstances(instances: RegistryOptions['instances']): Listed[] {
  return Object.entries(instances).flatMap(([name, settings]) =>
    'use' in settings
      ? [{ name, place: name, settings: settings }]
      : settings.map((item, index) => ({
          name,
          place: `${name}[${String(index)}]`,
          settings: item,
        })),
  );
}

interface Listed {
  readonly name: string;
  readonly place: string;
  readonly settings: InstanceSettings;
}

interface Opened {
  readonly instances: readonly Instance[];
  /** Errors that stop the start. */
  readonly mistakes: readonly RegistryError[];
  /** Engines with valid options that could not be created; the service starts without them. */
  readonly failures: readonly CreateFailure[];
}

interface CreateFailure {
  readonly error: RegistryError;
  readonly log: Logger;
}

/** Opens the engines of an instance. Returns those created before a mistake as well, so that they are disposed. */
async function openInstance(
  { name, place, settings: { use, ...settings } }: Listed,
  options: RegistryOptions,
): Promise<Opened> {
  const instances: Instance[] = [];
  const failures: CreateFailure[] = [];
  try {
    for (const definition of await loadDefinitions(place, use, options)) {
      await checkOptions(place, definition, settings);
      const context = await explained(place, 'cannot create its context', () => options.contextFor(name));
      const { capability } = definition;
      const { log } = context;
      const add = (guarded: Guarded) => void instances.push({ name, capability, guarded, log });
      const limits = { ...defaultLimits, ...options.limits };
      const created = await create({ place, definition, settings, context, limits, mayFail: options.guard !== false });
      if ('failure' in created) {
        add(failedEngine(name, created.failure));
        failures.push({ error: created.failure, log });
        continue;
      }
      const { engine } = created;
      const lacks = (what: string) => refusal(place, `the engine ${definition.name} has no function \`${what}\``);
      if (!hasFunction(engine, 'models')) throw lacks('models');
      const facts = { instance: name, capability, limits, log };
      add(options.guard === false ? unguarded(engine) : guardEngine(engine, facts)); // from here on, disposed with the registry
      const missing = ['availability', verbs[capability]].find((method) => !hasFunction(engine, method));
      if (missing !== undefined) throw lacks(missing);
      if (capability === 'transcription' && options.elsewhere) await moveElsewhere(instances, options.elsewhere);
    }
  } catch (error) {
    const mistake = error instanceof RegistryError ? error : refusal(place, `cannot open it: ${String(error)}`, error);
    return { instances, mistakes: [mistake], failures };
  }
  return { instances, mistakes: [], failures };
}

/** Replaces the engine of the last instance. */
async function moveElsewhere(instances: Instance[], elsewhere: NonNullable<RegistryOptions['elsewhere']>) {
  const last = instances.at(-1);
  if (last === undefined) return;
  const engine = await elsewhere(last.name, last.guarded.engine as TranscriptionEngine);
  if (engine === last.guarded.engine) return;
  instances.splice(-1, 1, { ...last, guarded: withEngine(last.guarded, engine) });
}

const verbs = { transcription: 'transcribe', chat: 'complete', speech: 'synthesize' } as const;

interface Creation {
  readonly place: string;
  readonly definition: EngineDefinition;
  readonly settings: object;
  readonly context: EngineContext;
  readonly limits: GuardLimits;
  /** Whether errors other than OptionsError are returned instead of thrown. */
  readonly mayFail: boolean;
}

/** Throws a `RegistryError` if the engine rejects the options. */
async function create({
  place,
  definition,
  settings,
  context,
  limits,
  mayFail,
}: Creation): Promise<{ readonly engine: Engine } | { readonly failure: RegistryError }> {
  const { log } = context;
  const isLate = { now: false };
  const creating = async () => {
    const engine = await definition.create(settings, context);
    if (isLate.now) await dispose(engine, limits.endMs, log);
    return engine;
  };
  try {
    return { engine: (await (mayFail ? within(limits.createMs, creating) : creating())) as Engine };
  } catch (cause) {
    isLate.now = true;
    const err = readable(cause);
    const what = `the engine ${definition.name} could not be created: ${err.message}`;
    if (!mayFail || OptionsError.is(cause)) throw refusal(place, what, cause);
    return { failure: refusal(place, what, err) };
  }
}

/** `use:` is a built-in folder name, else a path relative to the settings file, else a package name. */
async function loadDefinitions(name: string, use: string, options: RegistryOptions): Promise<EngineDefinition[]> {
  const builtIns = await listBuiltIns(options.builtIns ?? builtInFolder);
  const place = builtIns.get(use) ?? (await findModule(use, options.baseDir));
  if (place === undefined) {
    const known = [...builtIns.keys()];
    const meant = didYouMean(use, known);
    const names = `use one of ${known.join(', ')}, a path such as ./my-engine.js, or the name of an installed package`;
    const hint = isPath(use)
      ? `there is no file ${resolve(options.baseDir, use)}`
      : `${meant === undefined ? '' : `did you mean ${meant}? `}${names}`;
    throw new RegistryError(`engines.${name}.use: unknown engine "${use}"; ${hint}`);
  }
  if (!builtIns.has(use)) provideEngineContract();
  const module = await explained(`${name}.use`, `${place} cannot be loaded`, () => load(place));
  const definitions: unknown[] = Array.isArray(module.default) ? module.default : [module.default];
  if (definitions.length === 0) throw refusal(`${name}.use`, `${place} exports an empty list of engines`);
  return definitions.map((definition) => checkDefinition(name, place, definition));
}

async function load(place: string): Promise<{ readonly default?: unknown }> {
  try {
    return (await import(pathToFileURL(place).href)) as { default?: unknown };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // Which syntax is valid depends on the version: types are removed, but nothing is compiled.
    throw new SyntaxError(`${error.message} (${error.name} on Node.js ${process.version})`, { cause: error });
  }
}

/** The folder listing is the catalog: every folder with an index file is an engine of that name. */
async function listBuiltIns(folder: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const entry of (await readdir(folder, { withFileTypes: true })).sort((a, b) => a.name.localeCompare(b.name))) {
    if (!entry.isDirectory() || entry.name === 'contract') continue;
    const index = (await readdir(join(folder, entry.name))).find((file) => /^index\.[jt]s$/.test(file));
    if (index) found.set(entry.name, join(folder, entry.name, index));
  }
  return found;
}

const isPath = (use: string) => use.startsWith('.') || isAbsolute(use);

async function findModule(use: string, baseDir: string): Promise<string | undefined> {
  if (!isPath(use)) return findPackage(use, join(baseDir, 'settings.js'));
  const path = resolve(baseDir, use);
  return (await isFile(path)) ? path : undefined;
}

/** Resolves the main module of a package like `import`: `require.resolve` does not find import-only packages. */
async function findPackage(use: string, importer: string): Promise<string | undefined> {
  try {
    const manifest = findPackageJSON(use, importer) ?? '';
    const { exports } = JSON.parse(await readFile(manifest, 'utf8')) as { exports?: unknown };
    const main = /^(@[^/]+\/)?[^/]+$/.test(use) ? mainOf(exports) : undefined;
    return main === undefined ? createRequire(importer).resolve(use) : join(dirname(manifest), main);
  } catch {
    return undefined; // not installed: the caller lists valid names
  }
}

const importConditions = new Set(['.', 'node', 'module-sync', 'import', 'default']);

/** The first target in the `exports` of a package.json whose conditions all apply. */
function mainOf(target: unknown): string | undefined {
  if (typeof target === 'string') return target;
  const branches = Object.entries(target ?? {}).filter(([condition]) => importConditions.has(condition));
  return branches.map(([, branch]) => mainOf(branch)).find((found) => found !== undefined);
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}

function checkDefinition(name: string, place: string, value: unknown): EngineDefinition {
  const refuse = (what: string) => refusal(`${name}.use`, `${place} ${what}`);
  if (typeof value !== 'object' || value === null) {
    throw refuse('has no engine as its default export; export default defineEngine({...})');
  }
  const { contract, name: engineName, capability, options } = value as Partial<Record<keyof EngineDefinition, unknown>>;
  if (contract !== 1)
    throw refuse(`is written for version ${String(contract)} of the engine contract; this is version 1`);
  if (typeof engineName !== 'string' || engineName === '') throw refuse('has no engine name');
  if (!capabilities.includes(capability as Capability)) {
    throw refuse(`has the capability "${String(capability)}"; ${validNames(capabilities)}`);
  }
  if (typeof options !== 'object' || options === null)
    throw refuse('has no `options`, the JSON Schema of its settings');
  if (!('create' in value) || typeof value.create !== 'function') throw refuse('has no function `create`');
  return value as EngineDefinition;
}

async function checkOptions(
  name: string,
  { name: engine, options }: EngineDefinition,
  settings: object,
): Promise<void> {
  const validate = await explained(name, `the \`options\` of the engine ${engine} are not a valid JSON Schema`, () =>
    new Ajv2020(explainable).compile(options),
  );
  if (validate(settings)) return;
  const lines = describeErrors(validate.errors ?? [], (pointer) => ({
    where: `engines.${name}${pointer.replaceAll('/', '.')}`,
    secret: /key|token|secret|password|headers/i.test(pointer),
  }));
  throw new RegistryError(lines.join('\n'));
}

async function listOf(name: string, engine: Engine): Promise<readonly ModelEntry[]> {
  return explained(name, 'cannot list its models', async () => {
    const list: unknown = await engine.models();
    if (!Array.isArray(list)) throw new TypeError('`models()` did not return an array');
    return list as readonly ModelEntry[];
  });
}

/** Wraps errors of foreign code in a RegistryError with the path in the settings. */
async function explained<T>(place: string, what: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw refusal(place, `${what}: ${why}`, cause);
  }
}

function refusal(place: string, what: string, cause?: unknown): RegistryError {
  return new RegistryError(`engines.${place}: ${what}`, { cause });
}

export function validNames(names: readonly string[], wrong = ''): string {
  const meant = didYouMean(wrong, names);
  const known = names.length > 0 ? `known: ${names.join(', ')}` : 'none is known';
  return meant === undefined ? known : `did you mean ${meant}? ${known}`;
}
