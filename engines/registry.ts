/**
 * The engines of this service: found by name, checked, created, and asked. Everything that is wrong with the settings
 * of engines stops the start here, with the right names shown.
 */
import { readdir, readFile, stat } from 'node:fs/promises';
import { createRequire, findPackageJSON } from 'node:module';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import {
  EngineError,
  type Availability,
  type Capability,
  type Engine,
  type EngineContext,
  type EngineDefinition,
  type Engines,
  type Finding,
  type ModelEntry,
  type PrepareCall,
} from './contract.ts';
import { describeErrors, explainable } from './schema-errors.ts';

export const capabilities = ['transcription', 'chat', 'speech'] as const satisfies readonly Capability[];

/** An instance as the settings write it: `use` and the engine's own options. */
export interface InstanceSettings {
  readonly use: string;
  readonly [option: string]: unknown;
}

export interface RegistryOptions {
  /** The instances of the settings, in their order. A list is one provider that does several things, under one name. */
  readonly instances: Readonly<Record<string, InstanceSettings | readonly InstanceSettings[]>>;
  /** Relative `use:` paths are relative to this directory, and packages are looked up from it. */
  readonly baseDir: string;
  /** The folder whose folders are the built-in engines. */
  readonly builtIns?: string;
  /** The default model of a capability by the settings; unset: the first local entry, for chat the first. */
  readonly defaults: Readonly<Partial<Record<Capability, string>>>;
  /** What an instance is lent. */
  readonly contextFor: (instance: string) => EngineContext;
}

/** A model that a request may name, and the engine that serves it. */
export interface ServedModel<C extends Capability = Capability> {
  /** As requests name it. */
  readonly id: string;
  /** As its engine names it. */
  readonly engineId: string;
  readonly entry: ModelEntry;
  /** The instance's name in the settings. */
  readonly instance: string;
  readonly engine: Engines[C];
}

/** Wrong settings of engines; the message has a line for each mistake. */
export class RegistryError extends Error {
  override readonly name = 'RegistryError';
}

interface Instance {
  readonly name: string;
  readonly capability: Capability;
  readonly engine: Engine;
}

const builtInFolder = import.meta.dirname;

/** Throws a `RegistryError`; no engine is left running then. */
export async function createRegistry(options: RegistryOptions): Promise<Registry> {
  const instances: Instance[] = [];
  const registry = new Registry(instances, options.defaults);
  const mistakes: string[] = [];
  const noting = async (work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof RegistryError)) throw error;
      mistakes.push(error.message);
    }
  };
  try {
    for (const { name, place, settings } of listInstances(options.instances)) {
      await noting(async () => {
        for await (const engine of createEngines(place, settings, name, options)) {
          const hasTwin = instances.some((one) => one.name === name && one.capability === engine.capability);
          instances.push({ name, ...engine });
          // Listings and discovered ids would not tell two apart.
          if (hasTwin) throw refusal(name, `two engines for ${engine.capability}; give each a name of its own`);
        }
      });
    }
    await noting(async () => void mistakes.push(...(await registry.clashes())));
    if (mistakes.length > 0) throw new RegistryError(mistakes.join('\n'));
    return registry;
  } catch (error) {
    await registry[Symbol.asyncDispose]();
    throw error;
  }
}

export class Registry {
  readonly #instances: readonly Instance[];
  readonly #defaults: RegistryOptions['defaults'];

  constructor(instances: readonly Instance[], defaults: RegistryOptions['defaults']) {
    this.#instances = instances;
    this.#defaults = defaults;
  }

  /** All models of a capability, in the order of the settings. */
  async models<C extends Capability>(capability: C): Promise<ServedModel<C>[]> {
    const instances = this.#instances.filter((instance) => instance.capability === capability);
    const lists = await Promise.all(
      instances.map(async ({ name, engine }) =>
        (await listOf(name, engine)).map((entry) => ({
          id: entry.discovered ? `${name}/${entry.id}` : entry.id,
          engineId: entry.id,
          entry,
          instance: name,
          engine: engine as Engines[C],
        })),
      ),
    );
    return lists.flat();
  }

  /** The model that serves requests which name none: by the settings, else the first local one, for chat the first. */
  defaultOf<C extends Capability>(capability: C, models: readonly ServedModel<C>[]): ServedModel<C> | undefined {
    const named = this.#defaults[capability];
    if (named !== undefined) return models.find(({ id }) => id === named);
    return (capability === 'chat' ? undefined : models.find(({ entry }) => entry.local)) ?? models[0];
  }

  /** Mistakes that only show when all engines are there: ids that two of them serve, a default that none serves. */
  async clashes(): Promise<string[]> {
    const mistakes: string[] = [];
    for (const capability of capabilities) {
      const models = await this.models(capability);
      const owners = new Map<string, string>();
      for (const { id, instance } of models) {
        const other = owners.get(id);
        if (other !== undefined) {
          const who =
            other === instance
              ? `engines.${instance} lists it twice`
              : `engines.${other} and engines.${instance} both list it`;
          mistakes.push(`the ${capability} model "${id}" must be unique: ${who}`);
        }
        owners.set(id, instance);
      }
      const named = this.#defaults[capability];
      if (named === undefined || this.#mayDiscover(capability, named)) continue;
      if (models.length > 0 && !this.defaultOf(capability, models)) {
        mistakes.push(
          `the default ${capability} model "${named}" is served by no engine; ${theRightOnes([...owners.keys()])}`,
        );
      }
    }
    return mistakes;
  }

  /** The names of the instances for it; they may list no model now. */
  instancesFor(capability: Capability): string[] {
    return this.#instances.filter((instance) => instance.capability === capability).map(({ name }) => name);
  }

  /** A provider's own list comes later, or changes: `instance/…` is not known to be wrong. */
  #mayDiscover(capability: Capability, id: string): boolean {
    return this.#instances.some((one) => one.capability === capability && id.startsWith(`${one.name}/`));
  }

  /** Lets every engine fetch and build what it lacks; one's failure does not stop the others. */
  async prepare({ signal, progress }: PrepareCall): Promise<PromiseSettledResult<void>[]> {
    const able = this.#instances.filter(({ engine }) => 'prepare' in engine);
    return Promise.allSettled(
      able.map(async ({ name, engine }) =>
        engine.prepare?.({ signal, progress: (step, fraction) => progress(`${name}: ${step}`, fraction) }),
      ),
    );
  }

  /** What the engines found on this machine. */
  async inspect(): Promise<{ readonly instance: string; readonly findings: readonly Finding[] }[]> {
    return Promise.all(
      this.#instances.map(async ({ name, engine }) => ({ instance: name, findings: (await engine.inspect?.()) ?? [] })),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.#instances.map(async ({ engine }) => engine[Symbol.asyncDispose]?.()));
  }
}

/** Asks the engine, and takes a failure to answer for what it is: an engine that cannot work. */
export async function availabilityOf({ engine, engineId, instance }: ServedModel): Promise<Availability> {
  try {
    return await engine.availability(engineId);
  } catch (error) {
    if (!EngineError.is(error)) throw error;
    return { available: false, code: 'upstream-unreachable', reason: `The engine ${instance} says: ${error.message}` };
  }
}

/** Each with its place in the settings, for messages. */
function listInstances(instances: RegistryOptions['instances']) {
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

/** One for each engine of the module; those before a mistake are created all the same. */
async function* createEngines(
  place: string,
  { use, ...settings }: InstanceSettings,
  name: string,
  options: RegistryOptions,
): AsyncGenerator<Omit<Instance, 'name'>> {
  for (const definition of await loadDefinitions(place, use, options)) {
    await checkOptions(place, definition, settings);
    const engine = await explained(place, `the engine ${definition.name} could not be created`, () =>
      definition.create(settings, options.contextFor(name)),
    );
    const lacks = (what: string) => refusal(place, `the engine ${definition.name} has no function \`${what}\``);
    if (!hasMethod(engine, 'models')) throw lacks('models');
    yield { capability: definition.capability, engine }; // from here on it has an owner who ends it
    const missing = ['availability', verbs[definition.capability]].find((method) => !hasMethod(engine, method));
    if (missing !== undefined) throw lacks(missing);
  }
}

const verbs = { transcription: 'transcribe', chat: 'complete', speech: 'synthesize' } as const;

function hasMethod(engine: unknown, method: string): boolean {
  return typeof (engine as Readonly<Record<string, unknown>> | undefined | null)?.[method] === 'function';
}

/** `use:` is a built-in folder name, else a path relative to the settings file, else a package name. */
async function loadDefinitions(name: string, use: string, options: RegistryOptions): Promise<EngineDefinition[]> {
  const builtIns = await listBuiltIns(options.builtIns ?? builtInFolder);
  const place = builtIns.get(use) ?? (await findModule(use, options.baseDir));
  if (place === undefined) {
    const names = `use one of ${[...builtIns.keys()].join(', ')}, a path such as ./my-engine.js, or the name of an installed package`;
    const hint = isPath(use) ? `there is no file ${resolve(options.baseDir, use)}` : names;
    throw new RegistryError(`engines.${name}.use: "${use}" is no engine; ${hint}`);
  }
  const module = await explained(
    `${name}.use`,
    `${place} cannot be loaded`,
    async () => (await import(pathToFileURL(place).href)) as { default?: unknown },
  );
  const definitions: unknown[] = Array.isArray(module.default) ? module.default : [module.default];
  if (definitions.length === 0) throw refusal(`${name}.use`, `${place} exports an empty list of engines`);
  return definitions.map((definition) => checkDefinition(name, place, definition));
}

/** The folder listing is the catalogue: every folder with an index is an engine of that name. */
async function listBuiltIns(folder: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const entry of (await readdir(folder, { withFileTypes: true })).sort((a, b) => a.name.localeCompare(b.name))) {
    if (!entry.isDirectory()) continue;
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

/** The package's main module, as `import` finds it: `require.resolve` alone knows no package that is for `import` only. */
async function findPackage(use: string, importer: string): Promise<string | undefined> {
  try {
    const manifest = findPackageJSON(use, importer) ?? '';
    const { exports } = JSON.parse(await readFile(manifest, 'utf8')) as { exports?: unknown };
    const main = /^(@[^/]+\/)?[^/]+$/.test(use) ? mainOf(exports) : undefined;
    return main === undefined ? createRequire(importer).resolve(use) : join(dirname(manifest), main);
  } catch {
    return undefined; // not installed: the caller names what is
  }
}

const importConditions = new Set(['.', 'node', 'module-sync', 'import', 'default']);

/** Of `exports` in a package.json: the first target whose conditions all hold. */
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
  if (typeof engineName !== 'string' || engineName === '') throw refuse('gives its engine no name');
  if (!capabilities.includes(capability as Capability)) {
    throw refuse(`has the capability "${String(capability)}"; ${theRightOnes(capabilities)}`);
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
  const validate = await explained(name, `the \`options\` of the engine ${engine} are no JSON Schema`, () =>
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
  return explained(name, 'it cannot list its models', async () => {
    const list: unknown = await engine.models();
    if (!Array.isArray(list)) throw new TypeError('`models()` gives no list');
    return list as readonly ModelEntry[];
  });
}

/** A failure of someone else's code, with the place in the settings that brought it in. */
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

function theRightOnes(names: readonly string[]): string {
  return names.length > 0 ? `known are ${names.join(', ')}` : 'none is known';
}
