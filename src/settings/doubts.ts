/** Describes settings that are valid but probably mistakes, for startup and the doctor. */
import type { Capability } from '../../engines/contract/index.ts';
import { didYouMean } from '../../lib/did-you-mean.ts';
import { joinFirst } from '../../lib/listing.ts';
import type { Environment } from '../../lib/proxies.ts';
import { describeEndingModels } from './ending-models.ts';
import { requiresKeys, type AccessSettings, type LoadedSettings } from './load.ts';
import { ownAddress } from './own-address.ts';
import { defaultModelSettings, settingsTable, type Settings, type VariableWithEngines } from './table.ts';

interface Situation {
  readonly env: Environment;
  readonly settings: LoadedSettings;
  /** Whether there is an engine for the capability. */
  readonly hasEngine: (capability: Capability) => boolean;
  /** The current time in milliseconds since 1970. */
  readonly now: number;
}

/** Returns one line for each setting that is valid but probably a mistake. */
export function describeDoubts({ env, settings, hasEngine, now }: Situation): string[] {
  return [
    ...describeUnknownVariables(env),
    ...describeIgnoredVariables(settings),
    ...describeReplacedVariables({ env, settings, hasEngine }),
    ...(settings.file?.unsetKeys ?? []),
    ...describeMissingKeys(env, settings),
    ...describeShortTokens(settings),
    ...describeUnsendableTokens(settings),
    ...describeEndingModels(settings, now),
  ];
}

/**
 * Returns one line for each model that a setting names and no engine serves. `served` contains the ids of all served
 * models.
 */
export function describeUnservedModels(
  settings: LoadedSettings,
  served: Readonly<Record<Capability, readonly string[]>>,
): string[] {
  const { compatAliases, file, transcribeEnabled } = settings;
  const all = Object.values(served).flat();
  const defaults = Object.entries(defaultModelSettings).flatMap(([capability, name]) => {
    const id = settings[name];
    const known = served[capability as Capability];
    const isUsed = capability !== 'transcription' || transcribeEnabled;
    return id === undefined || !isUsed
      ? []
      : [{ place: `${settingsTable[name].env} (in the file: ${name})`, id, known }];
  });
  const aliases = Object.entries(compatAliases).map(([name, id]) => {
    return { place: `${file?.path ?? ''}: compatAliases.${name}`, id, known: all };
  });
  return [...defaults, ...aliases].flatMap(({ place, id, known }) => {
    if (known.length === 0 || known.includes(id)) return [];
    const meant = didYouMean(id, known);
    const fix = meant === undefined ? `name one of ${joinFirst(known, namesShown)}` : `did you mean ${meant}?`;
    return [`${place}: no engine serves the model "${id}" now; fix: ${fix}`];
  });
}

const namesShown = 5;

const ownVariable = /^(PARLANCE|TRANSCRIBE)_/;
/** Other programs also use this prefix, so a name is reported only if it resembles a setting. */
const sharedPrefix = 'OPENAI_';

/** Returns one line for each variable that looks like a setting but is unknown. */
export function describeUnknownVariables(env: Environment): string[] {
  const known = ['PARLANCE_CONFIG', ...Object.values(settingsTable).map((row) => row.env)];
  return Object.keys(env).flatMap((name) => {
    const isOwn = ownVariable.test(name);
    if (known.includes(name) || !(isOwn || name.startsWith(sharedPrefix))) return [];
    const meant = didYouMean(name, known);
    if (meant === undefined) return isOwn ? [`unknown variable ${name}`] : [];
    return [`unknown variable ${name}; did you mean ${meant}?`];
  });
}

/** Returns a line if OPENAI_BASE_URL is the address of this service. */
export function describeIgnoredVariables(settings: LoadedSettings): string[] {
  const { enginesAreListed, sandbox, openaiBaseUrl, openaiApiKey } = settings;
  const own = openaiBaseUrl === undefined ? undefined : ownAddress(openaiBaseUrl, settings);
  if (own === undefined || enginesAreListed || sandbox) return [];
  const names = `OPENAI_BASE_URL${openaiApiKey === undefined ? '' : ' and OPENAI_API_KEY'}`;
  return [`${names}: ignored, because the URL is that of this service itself (${own})`];
}

/** Returns one line that names the variables that have no effect because the file lists the engines. */
export function describeReplacedVariables(situation: Omit<Situation, 'now'>): string[] {
  const { env, settings } = situation;
  const { file, enginesAreListed } = settings;
  if (!enginesAreListed || file === undefined) return [];
  const replaced = Object.entries(settingsTable).filter(([name, { env: variable, withEngines, default: usual }]) => {
    const isSet = (env[variable] ?? '') !== '' && settings[name as keyof Settings] !== usual;
    return isSet && withEngines && !file.variables.has(variable) && !isRead(withEngines, situation);
  });
  if (replaced.length === 0) return [];
  const names = replaced.map(([, row]) => row.env).join(', ');
  const instead = replaced.map(([, { env: variable, withEngines }]) => `${variable}: ${withEngines?.instead ?? ''}`);
  return [`${names}: no effect on the engines that ${file.path} lists; write there instead: ${instead.join('; ')}`];
}

function isRead({ readBy, unless }: VariableWithEngines, { settings, hasEngine }: Omit<Situation, 'now'>): boolean {
  if (typeof readBy === 'string') return hasEngine(readBy);
  const instances = Object.values(settings.engines).flat();
  return instances.some((instance) => readBy.includes(instance.use) && instance[unless ?? ''] === undefined);
}

/** Returns a line if requests need no API key although a variable suggests that they should. */
function describeMissingKeys(env: Environment, settings: LoadedSettings): string[] {
  const { API_KEY: misspelled = '', API_KEYS: keys } = env;
  if (requiresKeys(settings)) return [];
  const effect = 'requests need no API key';
  return [
    ...(misspelled === '' ? [] : [`API_KEY: unknown variable, and ${effect}; fix: did you mean API_KEYS?`]),
    ...(keys === undefined
      ? []
      : [`API_KEYS: it contains no token, and ${effect}; fix: set it to that of openssl rand -hex 32, or unset it`]),
  ];
}

/** Minimum length of a token. Shorter tokens could be guessed. */
const minTokenLength = 20;

/**
 * For live transcription, pages in browsers send the API key as a subprotocol, so the key must be a valid HTTP token.
 */
function describeUnsendableTokens({ apiKeys, realtime }: LoadedSettings): string[] {
  if (!realtime || apiKeys.every((token) => /^[\w!#$%&'*+.^`|~-]+$/.test(token))) return [];
  return [
    'API_KEYS: web pages cannot open a WebSocket with a token that contains one of "(),/:;<=>?@[\\]{}; fix: openssl rand -hex 32',
  ];
}

/** Returns one line for each token in API_KEYS that is too short. */
function describeShortTokens({ apiKeys }: AccessSettings): string[] {
  return apiKeys.flatMap((token, index) => {
    if (token.length >= minTokenLength) return [];
    const location = apiKeys.length > 1 ? `API_KEYS: token ${String(index + 1)}` : 'API_KEYS: the token';
    return [
      `${location} has fewer than ${String(minTokenLength)} characters and may be guessed; fix: openssl rand -hex 32`,
    ];
  });
}
