/** Settings from the environment and from parlance.config.yaml; the environment wins. */
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parseDocument } from 'yaml';
import { isLoopback } from '../machine/loopback.ts';
import { describeErrors, explainable } from '../../engines/schema-errors.ts';
import { fileSchema, settingsSchema, settingsTable, type Settings } from './table.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** An engine instance as the settings write it: `use` and the engine's own options. */
export interface InstanceSettings {
  readonly use: string;
  readonly [option: string]: unknown;
}

export interface LoadedSettings extends Settings {
  readonly engines: Readonly<Record<string, InstanceSettings>>;
  /** Relative paths in the settings are relative to this directory. */
  readonly baseDir: string;
  /** Set when DATA_DIR was named: temporary files live there too. */
  readonly dataDirIsNamed: boolean;
}

/** Wrong settings: the message names every place, the value and what is allowed. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

const defaultFile = 'parlance.config.yaml';

/** Throws a `SettingsError`. */
export function loadSettings(env: Environment, cwd = process.cwd()): LoadedSettings {
  const file = readFile(env, cwd);
  const values: Record<string, unknown> = {};
  if (file.values.engines !== undefined) values.engines = file.values.engines;
  for (const [name, row] of Object.entries(settingsTable)) {
    const text = env[row.env];
    const inFile = row.inFile === false ? undefined : file.values[name];
    const value = text === undefined || text === '' ? (inFile ?? row.default) : fromText(text, row.schema.type);
    if (value !== undefined) values[name] = value;
  }
  const wrong = [...violations(fileSchema, file.values, file.path), ...violations(settingsSchema, values, file.path)];
  if (wrong.length > 0) throw new SettingsError([...new Set(wrong)].join('\n'));

  const settings = values as unknown as Omit<Settings, 'dataDir'> &
    Partial<Pick<LoadedSettings, 'dataDir' | 'engines'>>;
  refuseOpenDoors(settings);
  const dataDir = resolve(file.dir, settings.dataDir ?? join(homedir(), '.local/share/parlance'));
  return {
    ...settings,
    dataDir,
    dataDirIsNamed: settings.dataDir !== undefined,
    engines: settings.engines ?? defaultEngines({ ...settings, dataDir }),
    baseDir: file.dir,
  };
}

/** Without keys, whoever reaches the service may use it: that is for this machine, unless the operator says otherwise. */
function refuseOpenDoors({ host, apiKeys, allowOpen }: Pick<Settings, 'host' | 'apiKeys' | 'allowOpen'>): void {
  if (apiKeys.length > 0 || allowOpen || isLoopback(host)) return;
  const why = 'without API_KEYS the service listens on loopback only, such as 127.0.0.1';
  throw new SettingsError(
    `HOST: "${host}" is not allowed: ${why}; set API_KEYS, or ALLOW_OPEN=true to open it to everybody`,
  );
}

const localModel = 'local';

/** Without a file: what works on this machine alone, and the provider that the environment names. */
function defaultEngines(settings: Omit<Settings, 'engines'>): LoadedSettings['engines'] {
  const { whisperModel, transcribeModel, dataDir } = settings;
  const file = whisperModel ?? join(dataDir, 'models', 'ggml-base.bin');
  const local = { use: 'whisper-cli', models: [{ id: localModel, file }] };
  const provider = providerOf(settings);
  // What a provider calls its models is not ours to guess, so it serves the one that is named.
  if (provider === undefined || transcribeModel === undefined || transcribeModel === localModel) return { local };
  return { local, openai: { use: 'hosted-stt', ...provider, models: [transcribeModel] } };
}

/** An address without a key means that none is needed. */
function providerOf({ openaiApiKey: apiKey, openaiBaseUrl: baseUrl }: Partial<Settings>): object | undefined {
  if (apiKey === undefined && baseUrl === undefined) return undefined;
  return { baseUrl: baseUrl ?? 'https://api.openai.com/v1', ...(apiKey !== undefined && { apiKey }) };
}

interface SettingsFile {
  readonly path: string | undefined;
  readonly dir: string;
  readonly values: Readonly<Record<string, unknown>>;
}

function readFile(env: Environment, cwd: string): SettingsFile {
  const named = env.PARLANCE_CONFIG;
  const path = resolve(cwd, named === '' ? defaultFile : (named ?? defaultFile));
  let source: string;
  try {
    source = readFileSync(path, 'utf8');
  } catch (error) {
    if (!named && (error as NodeJS.ErrnoException).code === 'ENOENT') return { path: undefined, dir: cwd, values: {} };
    throw new SettingsError(`${named ? 'PARLANCE_CONFIG: ' : ''}${path} cannot be read: ${(error as Error).message}`);
  }
  const values = parseYaml(source, path);
  if (typeof values !== 'object' || Array.isArray(values)) {
    throw new SettingsError(`${path} is not a mapping of settings; it starts with "${source.slice(0, 40)}"`);
  }
  return { path, dir: dirname(path), values: withEnvironment(values, env, path) as SettingsFile['values'] };
}

/** The messages of the parser quote the file, which may hold keys: only the place and the kind of mistake are told. */
function parseYaml(source: string, path: string): unknown {
  const document = parseDocument(source);
  const [broken] = document.errors;
  if (broken) {
    const { line, col } = broken.linePos?.[0] ?? { line: 1, col: 1 };
    throw new SettingsError(`${path} is not YAML: ${broken.code} at line ${String(line)}, column ${String(col)}`);
  }
  try {
    const values: unknown = document.toJS({ maxAliasCount: 100 }) ?? {};
    JSON.stringify(values); // throws for what contains itself
    return values;
  } catch (cause) {
    throw new SettingsError(`${path} is not YAML: an alias stands for nothing, for itself or for a flood`, { cause });
  }
}

/** Puts environment variables in the place of `${NAME}`. An unset one is an error, but an `apiKey` is then merely missing: "". */
function withEnvironment(tree: unknown, env: Environment, path: string): unknown {
  const unset: string[] = [];
  const visit = (value: unknown, place: string): unknown => {
    if (typeof value === 'string') {
      return value.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_all, name: string) => {
        const found = env[name];
        if (!found && !/(^|\.)apiKey$/.test(place)) unset.push(`${path}: ${place}: the variable ${name} is not set`);
        return found ?? '';
      });
    }
    if (Array.isArray(value)) return value.map((item, index) => visit(item, `${place}[${String(index)}]`));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, visit(item, place ? `${place}.${key}` : key)]),
    );
  };
  const result = visit(tree, '');
  if (unset.length > 0) throw new SettingsError(unset.join('\n'));
  return result;
}

const switches: Readonly<Record<string, boolean>> = {
  true: true,
  on: true,
  yes: true,
  '1': true,
  false: false,
  off: false,
  no: false,
  '0': false,
};

/** The text as its type says; what is not of the type stays text, for the schema to refuse. */
function fromText(text: string, type: 'string' | 'integer' | 'boolean' | 'array'): unknown {
  switch (type) {
    case 'string':
      return text;
    case 'integer':
      return /^-?\d+$/.test(text) ? Number(text) : text;
    case 'boolean':
      return switches[text.toLowerCase()] ?? text;
    case 'array':
      return text
        .split(',')
        .map((item) => item.trim())
        .filter((item) => item !== '');
  }
}

function violations(schema: object, values: object, path: string | undefined): string[] {
  const validate = new Ajv2020(explainable).compile(schema);
  if (validate(values)) return [];
  return describeErrors(validate.errors ?? [], (pointer) => {
    const [name = '', ...rest] = pointer.split('/').slice(1);
    const row = Object.hasOwn(settingsTable, name) ? settingsTable[name as keyof Settings] : undefined;
    const place = [name, ...rest].join('.');
    if (!row) return { where: [path, place].filter(Boolean).join(': ') };
    return { where: path ? `${row.env} (in the file: ${place})` : row.env, expects: row.expects, secret: row.secret };
  });
}
