/** Loads the settings from the environment and parlance.config.yaml; the environment takes precedence. */
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import { isLoopback } from '../../lib/loopback.ts';
import { proxyMistakes, type Environment } from '../../lib/proxies.ts';
import { chatServers, defaultEngines, type EngineInstances } from './engines.ts';
import { locationInMcpServer, type McpServerSettings } from './mcp-servers.ts';
import { ownAddress, type OwnAddress } from './own-address.ts';
import { readOperatorFileSync } from './read-file.ts';
import { compileExplainable, describeErrors } from './schema-errors.ts';
import { defaultSettings, fileSchema, schemasOfOne, settingsTable, type Settings } from './table.ts';
import { parseYaml, SettingsError } from './yaml.ts';
import { errnoOf, messageOf } from '../../lib/errors.ts';

export { SettingsError, type Environment };

/** The settings as given by the environment and the file. */
type GivenSettings = Settings & Partial<Pick<LoadedSettings, 'engines' | 'mcpServers' | 'compatAliases'>>;

interface FileFacts {
  readonly path: string;
  /** The environment variables to which the file refers as `${NAME}`. */
  readonly variables: ReadonlySet<string>;
  /** One line for each `apiKey` that is empty because its variable is not set. */
  readonly unsetKeys: readonly string[];
}

/** The validated settings, with defaults. */
export interface LoadedSettings extends Settings {
  /** DATA_DIR as an absolute path. */
  readonly dataDir: string;
  readonly engines: EngineInstances;
  /** True if the file lists the engines, which makes all of them required. The default engines are optional. */
  readonly enginesAreListed: boolean;
  /** Names of the default engines for servers that may run on this machine, such as Ollama. */
  readonly lookedFor: readonly string[];
  /** MCP servers by name. */
  readonly mcpServers: Readonly<Record<string, McpServerSettings>>;
  /** Model ids by the names that apps send under /v1. */
  readonly compatAliases: Readonly<Record<string, string>>;
  /** Relative paths in the settings are resolved from this directory. */
  readonly baseDir: string;
  /** Facts about the settings file; undefined without a file. */
  readonly file?: FileFacts | undefined;
  /** True if DATA_DIR is set. Temporary files are then stored there as well. */
  readonly dataDirIsNamed: boolean;
}

const defaultFile = 'parlance.config.yaml';

/**
 * Loads the settings from the environment and from PARLANCE_CONFIG, or parlance.config.yaml in `cwd`; the environment
 * takes precedence. Throws a `SettingsError` that lists every invalid setting.
 */
export function loadSettings(env: Environment, cwd = process.cwd()): LoadedSettings {
  const file = readFile(env, cwd);
  const path = file.facts?.path;
  const values: Record<string, unknown> = {};
  for (const name of ['engines', 'mcpServers', 'compatAliases']) {
    if (file.values[name] !== undefined) values[name] = file.values[name];
  }
  for (const [name, row] of Object.entries(settingsTable)) {
    const text = env[row.env];
    const inFile = row.inFile === false ? undefined : file.values[name];
    const value = text === undefined || text === '' ? inFile : fromText(text, row.schema.type);
    if (value !== undefined) values[name] = value;
  }
  const wrong = [
    ...(path === undefined ? [] : violations(compileExplainable(fileSchema), file.values, path)),
    ...Object.entries(schemasOfOne).flatMap(([name, schema]) =>
      Object.hasOwn(values, name) ? violations(compileExplainable(schema), { [name]: values[name] }, path) : [],
    ),
    ...proxyMistakes(env),
  ];
  if (wrong.length > 0) throw new SettingsError([...new Set(wrong)].join('\n'));

  normalize(values);
  const settings: GivenSettings = { ...defaultSettings, ...(values as Partial<GivenSettings>) };
  rejectOpenAccess(settings);
  rejectLoops(settings, path);
  const dataDir = resolve(file.dir, settings.dataDir ?? join(homedir(), '.local/share/parlance'));
  return {
    ...settings,
    dataDir,
    dataDirIsNamed: settings.dataDir !== undefined,
    ...absolutePaths(settings, file.dir),
    enginesAreListed: settings.engines !== undefined,
    lookedFor: settings.engines === undefined ? Object.keys(chatServers) : [],
    engines: settings.engines ?? defaultEngines({ ...settings, dataDir }),
    mcpServers: settings.mcpServers ?? {},
    compatAliases: settings.compatAliases ?? {},
    baseDir: file.dir,
    ...(file.facts && { file: file.facts }),
  };
}

/** Returns the absolute paths of the files that are reloaded on SIGHUP. */
function absolutePaths(settings: Settings, dir: string): Partial<Settings> {
  const names = ['apiKeysFile', 'tlsCert', 'tlsKey'] as const;
  return Object.fromEntries(
    names.flatMap((name) => (settings[name] === undefined ? [] : [[name, resolve(dir, settings[name])]])),
  );
}

/** Converts values to their canonical form. The values must have passed the schema. */
function normalize(values: Record<string, unknown>): void {
  for (const [name, row] of Object.entries(settingsTable)) {
    const value = values[name];
    if (!row.normalize) continue;
    if (typeof value === 'string') values[name] = row.normalize(value);
    if (Array.isArray(value)) values[name] = value.map(row.normalize);
  }
}

/**
 * Throws if clients on other machines would have access without a key: without keys, HOST and PUBLIC_URL (which implies
 * a proxy) must be loopback unless ALLOW_OPEN is set. A worker of a fleet does not accept requests.
 */
function rejectOpenAccess(settings: OpenAccessSettings): void {
  const { host, publicUrl, allowOpen, fleetRole } = settings;
  if (requiresKeys(settings) || allowOpen || fleetRole === 'worker') return;
  const fix = 'set API_KEYS or API_KEYS_FILE, or ALLOW_OPEN=true to allow access without a key';
  if (!isLoopback(host)) {
    const why = 'without API_KEYS the service listens on loopback only, such as 127.0.0.1';
    throw new SettingsError(`HOST: "${host}" is not allowed: ${why}; ${fix}`);
  }
  if (publicUrl === undefined || isLoopback(new URL(publicUrl).hostname)) return;
  const why = 'without API_KEYS, a proxy at this address would make the service public';
  throw new SettingsError(`PUBLIC_URL: "${publicUrl}" is not allowed: ${why}; ${fix}`);
}

type OpenAccessSettings = AccessSettings & Pick<Settings, 'host' | 'publicUrl' | 'allowOpen' | 'fleetRole'>;

export type AccessSettings = Pick<Settings, 'apiKeys' | 'apiKeysFile'>;

/** Whether requests need an API key; false in open mode. */
export function requiresKeys({ apiKeys, apiKeysFile }: AccessSettings): boolean {
  return apiKeys.length > 0 || apiKeysFile !== undefined;
}

/** Throws if the URL of a provider is the address of this service, which would then call itself endlessly. */
function rejectLoops(settings: OwnAddress & Partial<Pick<LoadedSettings, 'engines'>>, path = ''): void {
  const wrong = Object.entries(settings.engines ?? {}).flatMap(([name, given]) =>
    [given].flat().flatMap(({ baseUrl }, index) => {
      const own = typeof baseUrl === 'string' ? ownAddress(baseUrl, settings) : undefined;
      if (own === undefined) return [];
      const location = Array.isArray(given) ? `engines.${name}[${String(index)}]` : `engines.${name}`;
      return [
        `${path}: ${location}.baseUrl: the URL is that of this service itself (${own}); set it to that of a provider`,
      ];
    }),
  );
  if (wrong.length > 0) throw new SettingsError(wrong.join('\n'));
}

type FileValues = Readonly<Record<string, unknown>>;

interface SettingsFile {
  readonly dir: string;
  readonly values: FileValues;
  readonly facts?: FileFacts;
}

function readFile(env: Environment, cwd: string): SettingsFile {
  const named = env.PARLANCE_CONFIG;
  const path = resolve(cwd, named === '' ? defaultFile : (named ?? defaultFile));
  let source: string;
  try {
    source = readOperatorFileSync(path).text;
  } catch (error) {
    if (!named && errnoOf(error) === 'ENOENT') return { dir: cwd, values: {} };
    const setting = named ? 'PARLANCE_CONFIG (--config): ' : '';
    const problem =
      errnoOf(error) === 'ENOENT' ? `there is no file ${path}` : `${path} cannot be read: ${messageOf(error)}`;
    throw new SettingsError(`${setting}${problem}`);
  }
  const values = parseYaml(source, path);
  if (typeof values !== 'object' || values === null || Array.isArray(values)) {
    throw new SettingsError(`${path} is not a mapping of settings; it starts with "${source.slice(0, 40)}"`);
  }
  return { dir: dirname(path), ...withEnvironment(values, env, path) };
}

/**
 * Replaces `${NAME}` with environment variables. An unset or empty variable is an error, except in an `apiKey`, which
 * may be empty.
 */
function withEnvironment(tree: object, env: Environment, path: string): Pick<SettingsFile, 'values' | 'facts'> {
  const unset: string[] = [];
  const unsetKeys: string[] = [];
  const variables = new Set<string>();
  const visit = (value: unknown, location: string): unknown => {
    if (typeof value === 'string') {
      return value.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_all, name: string) => {
        variables.add(name);
        const found = env[name];
        const lines = /(^|\.)apiKey$/.test(location) ? unsetKeys : unset;
        if (!found) lines.push(`${path}: ${location}: the variable ${name} is not set`);
        return found ?? '';
      });
    }
    if (Array.isArray(value)) return value.map((item, index) => visit(item, `${location}[${String(index)}]`));
    if (typeof value !== 'object' || value === null) return value;
    return visitAll(value, location);
  };
  const visitAll = (values: object, location = '') =>
    Object.fromEntries(
      Object.entries(values).map(([key, item]) => [key, visit(item, location ? `${location}.${key}` : key)]),
    );
  const values = visitAll(tree);
  if (unset.length > 0) throw new SettingsError(unset.join('\n'));
  return { values, facts: { path, variables, unsetKeys } };
}

const yes = /^(true|on|yes|1)$/i;
const no = /^(false|off|no|0)$/i;

type SettingType = (typeof settingsTable)[keyof Settings]['schema']['type'];

/** Converts text to the type of the setting. Invalid text stays text, which the schema then rejects. */
function fromText(text: string, type: SettingType): unknown {
  switch (typeof type === 'string' ? type : type[0]) {
    case 'string':
      return text;
    case 'integer':
      return /^-?\d+$/.test(text) ? Number(text) : text;
    case 'boolean':
      if (yes.test(text)) return true;
      return no.test(text) ? false : text;
    case 'array':
      return text
        .split(',')
        .map((item) => item.trim())
        .filter((item) => item !== '');
  }
}

/**
 * Kubernetes sets variables for each Service in every pod of its namespace, such as `METRICS_PORT=tcp://10.0.0.1:9464`
 * for the Service `metrics`.
 */
function serviceLink(name: string, value: unknown): string {
  if (!name.endsWith('_PORT') || typeof value !== 'string' || !/^(tcp|udp|sctp):/.test(value)) return '';
  const service = name.slice(0, -'_PORT'.length).toLowerCase().replaceAll('_', '-');
  return `; Kubernetes sets it for a Service named "${service}": set enableServiceLinks: false in the pod, or ${name} to a port`;
}

function violations(validate: ValidateFunction, values: FileValues, path: string | undefined): string[] {
  if (validate(values)) return [];
  return describeErrors(validate.errors ?? [], (pointer) => {
    const [name = '', ...rest] = pointer.split('/').slice(1);
    const row = Object.hasOwn(settingsTable, name) ? settingsTable[name as keyof Settings] : undefined;
    const location = [name, ...rest].join('.');
    if (!row) {
      const where = [path, location].filter(Boolean).join(': ');
      if (name !== 'mcpServers') return { where };
      return { where, alternatives: { url: ['command'] }, ...locationInMcpServer(rest[1]) };
    }
    return {
      where: path ? `${row.env} (in the file: ${location})` : row.env,
      expects: row.expects && row.expects + serviceLink(row.env, values[name]),
      secret: row.secret,
    };
  });
}
