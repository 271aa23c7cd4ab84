/** `parlance key list`: lists the API keys, their permissions, and their usage today. */
import { errnoOf } from '../../lib/errors.ts';
import { readRegularFile } from '../../lib/regular-file.ts';
import { nameOfToken, operationsByNameOnly, type KeyRules } from '../keys/key.ts';
import { readKeysFile, type KeyEntry } from '../keys/keys-file.ts';
import { createBudgets, type OwnBudgets } from '../limits/budgets.ts';
import { parseUsage, usageFileOf } from '../limits/usage-file.ts';
import type { LoadedSettings } from '../settings/load.ts';

type Settings = Pick<LoadedSettings, 'apiKeys' | 'apiKeysFile' | 'dataDir'>;

/** Returns the lines. Throws a `SettingsError` for an invalid keys file. */
export async function listKeys({ apiKeys, apiKeysFile: path, dataDir }: Settings): Promise<string[]> {
  const entries = path === undefined ? [] : await readKeysFile(path);
  const budgets = await readBudgets(usageFileOf(dataDir));
  const unnamed = [...new Set(apiKeys)].map(async (token) => {
    const position = `number ${String(apiKeys.indexOf(token) + 1)} of API_KEYS`;
    return describeKey(await nameOfToken(token), position, budgets);
  });
  // Entries of the same name differ only in their token and its expiry.
  const named = [...Map.groupBy(entries, ({ name }) => name)].flatMap(([name, tokens]) =>
    describeKey(name, tokens.map(describeToken).join('; '), budgets, tokens[0]),
  );
  return [...(await Promise.all(unnamed)).flat(), ...named];
}

/** Returns undefined if the file cannot be read, for example because it belongs to another user. */
async function readBudgets(path: string): Promise<OwnBudgets | undefined> {
  try {
    return createBudgets(parseUsage(await readRegularFile(path)));
  } catch (error) {
    return errnoOf(error) === 'ENOENT' ? createBudgets() : undefined;
  }
}

function describeKey(
  name: string,
  tokens: string,
  budgets: OwnBudgets | undefined,
  { operations, models = ['all'], tools = ['all'], weight = 1, limits = {} }: KeyRules = {},
): string[] {
  const { requestsPerMinute, concurrentRequests, audioMinutesPerDay, tokensPerDay } = limits;
  const used = budgets?.used(name);
  const perDay = (limit: number | undefined) => (limit === undefined ? '' : ` of ${String(limit)}`);
  const bounds = [
    ...(requestsPerMinute === undefined ? [] : [`${String(requestsPerMinute)} requests per minute`]),
    ...(concurrentRequests === undefined ? [] : [`${String(concurrentRequests)} requests at once`]),
    ...(audioMinutesPerDay === undefined ? [] : [`${String(audioMinutesPerDay)} minutes of audio per day`]),
    ...(tokensPerDay === undefined ? [] : [`${String(tokensPerDay)} tokens per day`]),
  ];
  const facts = {
    tokens,
    operations: operations?.join(', ') ?? `all except ${operationsByNameOnly.join(' and ')}`,
    models: models.join(', '),
    tools: tools.length === 0 ? 'none' : tools.join(', '),
    limits: [...bounds, ...(weight === 1 ? [] : [`weight ${String(weight)}`])].join(', ') || 'none',
    today: used
      ? `${(used.audioMs / 60_000).toFixed(1)}${perDay(audioMinutesPerDay)} minutes of audio, ${String(used.tokens)}${perDay(tokensPerDay)} tokens`
      : 'unknown: usage.json of the data directory cannot be read',
  };
  return [name, ...Object.entries(facts).map(([what, fact]) => `  ${what.padEnd(10)}  ${fact}`)];
}

function describeToken({ sha256, expires }: KeyEntry): string {
  const token = `${sha256.slice(0, 8)}…`;
  if (expires === undefined) return `${token} without expiry`;
  return `${token} ${Date.parse(expires) <= Date.now() ? 'expired' : 'expires'} ${expires}`;
}
