/** Loads the definitions of engines: finds a module by the name in `use:`, and validates its exports. */
import type { Stats } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { createRequire, findPackageJSON } from 'node:module';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Capability, EngineDefinition } from '../../../engines/contract/index.ts';
import { didYouMean, validNames } from '../../../lib/did-you-mean.ts';
import { isObject } from '../../../lib/json.ts';
import { compileExplainable, describeErrors } from '../../settings/schema-errors.ts';
import { prepareForEngines } from './engine-import.ts';
import { explained, refusal, RegistryError } from './registry-error.ts';

export const capabilities = ['transcription', 'chat', 'speech'] as const satisfies readonly Capability[];

/** A definition whose capability is known. */
export type Definition = { readonly [C in Capability]: EngineDefinition<C> }[Capability];

export interface ModuleOptions {
  /** Relative `use:` paths and packages are resolved from this directory. */
  readonly baseDir: string;
  /** The folder with one subfolder per built-in engine. */
  readonly builtIns?: string;
}

const builtInFolder = join(import.meta.dirname, '../../../engines');

/**
 * `use:` is the name of a built-in folder, otherwise the path of a module or of a package's folder relative to the
 * settings file, otherwise a package name.
 */
export async function loadDefinitions(name: string, use: string, options: ModuleOptions): Promise<Definition[]> {
  const builtIns = await listBuiltIns(options.builtIns ?? builtInFolder);
  const find = () => findModule(use, options.baseDir);
  const place = builtIns.get(use) ?? (await explained(`${name}.use`, `the package ${use} cannot be used`, find));
  if (place === undefined) {
    const hint = isPath(use) ? await missingAt(resolve(options.baseDir, use)) : hintFor(use, [...builtIns.keys()]);
    throw refusal(`${name}.use`, `unknown engine "${use}"; ${hint}`);
  }
  if (!builtIns.has(use)) prepareForEngines();
  const module = await explained(`${name}.use`, `${place} cannot be loaded`, () => load(place));
  const definitions: unknown[] = Array.isArray(module.default) ? module.default : [module.default];
  if (definitions.length === 0) throw refusal(`${name}.use`, `${place} exports an empty list of engines`);
  return definitions.map((definition) => checkDefinition(name, place, definition));
}

function hintFor(use: string, known: readonly string[]): string {
  const meant = didYouMean(use, known);
  const names = `use one of ${known.join(', ')}, a path such as ./my-engine.js, or the name of an installed package`;
  return meant === undefined ? names : `did you mean ${meant}? ${names}`;
}

async function missingAt(path: string): Promise<string> {
  return (await statOf(path))?.isDirectory() ? `the folder ${path} has no package.json` : `there is no file ${path}`;
}

async function load(place: string): Promise<{ readonly default?: unknown }> {
  try {
    return (await import(pathToFileURL(place).href)) as { default?: unknown };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // Node.js strips types but compiles nothing, so the valid syntax depends on its version.
    throw new SyntaxError(`${error.message} (${error.name} on Node.js ${process.version})`, { cause: error });
  }
}

/** Lists the built-in engines: every subfolder with an index file is an engine with the folder's name. */
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
  const importer = join(baseDir, 'settings.js');
  if (!isPath(use)) {
    const manifest = manifestOf(use, importer);
    return manifest === undefined ? undefined : resolvePackage(use, manifest, importer);
  }
  const path = resolve(baseDir, use);
  if (await isFile(path)) return path;
  const manifest = join(path, 'package.json');
  return (await isFile(manifest)) ? resolvePackage(path, manifest, importer) : undefined;
}

/**
 * Resolves a package as `import` does, because `require.resolve` does not find import-only packages. Throws for a
 * broken package. `use` is its name, its folder, or a module below its name.
 */
async function resolvePackage(use: string, manifest: string, importer: string): Promise<string> {
  const { exports } = parsed(await readFile(manifest, 'utf8'), manifest);
  const isWhole = isPath(use) || /^(@[^/]+\/)?[^/]+$/.test(use);
  const main = isWhole ? mainOf(exports) : undefined;
  return main === undefined ? createRequire(importer).resolve(use) : join(dirname(manifest), main);
}

function manifestOf(use: string, importer: string): string | undefined {
  try {
    return findPackageJSON(use, importer);
  } catch {
    return undefined; // no package has this name, or the name is invalid
  }
}

function parsed(text: string, path: string): { readonly exports?: unknown } {
  try {
    return Object(JSON.parse(text)) as { readonly exports?: unknown };
  } catch (cause) {
    throw new Error(`${path} is not valid JSON`, { cause });
  }
}

const importConditions = new Set(['.', 'node', 'module-sync', 'import', 'default']);

/** Returns the first target in the `exports` of a package.json whose conditions all apply, or undefined. */
function mainOf(target: unknown): string | undefined {
  if (typeof target === 'string') return target;
  const branches = Object.entries(target ?? {}).filter(([condition]) => importConditions.has(condition));
  return branches.map(([, branch]) => mainOf(branch)).find((found) => found !== undefined);
}

async function isFile(path: string): Promise<boolean> {
  return (await statOf(path))?.isFile() === true;
}

/** Returns undefined if the file does not exist or is not readable. */
async function statOf(path: string): Promise<Stats | undefined> {
  return stat(path).catch(() => undefined);
}

function checkDefinition(name: string, place: string, value: unknown): Definition {
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
  if (!isObject(options)) throw refuse('has no `options`, the JSON Schema of its settings');
  if (!('create' in value) || typeof value.create !== 'function') throw refuse('has no function `create`');
  return value as Definition;
}

/** Throws a `RegistryError` for settings that violate the engine's schema. */
export async function checkOptions(
  name: string,
  { name: engine, options }: Pick<Definition, 'name' | 'options'>,
  settings: object,
): Promise<void> {
  const validate = await explained(name, `the \`options\` of the engine ${engine} are not a valid JSON Schema`, () =>
    compileExplainable(options),
  );
  if (validate(settings)) return;
  const lines = describeErrors(validate.errors ?? [], (pointer) => ({
    where: `engines.${name}${pointer.replaceAll('/', '.')}`,
    secret: /key|token|secret|password|headers/i.test(pointer),
  }));
  throw new RegistryError(lines.join('\n'));
}
