/** Looks up the keys of API_KEYS and the keys file by token. */
import { hash } from 'node:crypto';
import { newKeyCommand } from '../../lib/setup-command.ts';
import type { Logger } from '../../engines/contract/index.ts';
import { SettingsError, requiresKeys, type LoadedSettings } from '../settings/load.ts';
import type { Key } from '../request-scope.ts';
import { createKey, nameOfToken } from './key.ts';
import { readKeysFile, type KeyEntry } from './keys-file.ts';

/** A token that the service knows. */
export interface Credential {
  readonly key: Key;
  /** SHA-256 of the token, in hex. */
  readonly tokenDigest: string;
}

export interface FoundKey extends Credential {
  readonly isExpired: boolean;
}

type RingLog = Pick<Logger, 'info' | 'warn' | 'error'>;

/** A token of a key. */
interface Token {
  readonly key: Key;
  /** Milliseconds since 1970. */
  readonly expires: number | undefined;
}

/** Tokens by their SHA-256 in hex. */
type Tokens = ReadonlyMap<string, Token>;

export type KeyRing = NonNullable<Awaited<ReturnType<typeof openKeyRing>>>;

/**
 * Resolves with undefined in open mode. Otherwise, a token is required for the lifetime of the process, even if no
 * valid key remains. Throws a `SettingsError`. `wait` delays the second read of the file.
 */
export async function openKeyRing(
  settings: Pick<LoadedSettings, 'apiKeys' | 'apiKeysFile'>,
  log: RingLog,
  wait?: () => Promise<void>,
) {
  if (!requiresKeys(settings)) return undefined;
  const { apiKeys, apiKeysFile: path } = settings;
  let entries = path === undefined ? [] : await readKeysFile(path, wait);
  if (path !== undefined && entries.length === 0) {
    throw new SettingsError(`API_KEYS_FILE: ${path} has no keys; fix: ${newKeyCommand}`);
  }
  const unnamed = await tokensOfSettings(apiKeys);
  let tokens = tokensOf(unnamed, entries, path);
  warnOfExpiry(entries, log);
  const timer = setInterval(() => warnOfExpiry(entries, log), dayMs).unref();
  let reloading = Promise.resolve();

  async function reload(): Promise<void> {
    if (path === undefined) return;
    try {
      const read = await readKeysFile(path, wait);
      tokens = tokensOf(unnamed, read, path);
      const changes = changesBetween(entries, read);
      log[changes.removed.length > 0 ? 'warn' : 'info'](changes, 'the keys file was reloaded');
      entries = read;
    } catch (error) {
      if (!(error instanceof SettingsError)) throw error;
      log.error({ reason: error.message }, 'the keys file is invalid; the keys stay as they are');
      return;
    }
    warnOfExpiry(entries, log);
  }

  return {
    /** Returns undefined for an unknown token. Takes one SHA-256 and one lookup, regardless of the number of keys. */
    find(token: string): FoundKey | undefined {
      const tokenDigest = digestOf(token);
      const found = tokens.get(tokenDigest);
      return found && { key: found.key, tokenDigest, isExpired: isExpired(found) };
    },
    /**
     * Returns the current key of a token, for work that must end with the token; undefined if the token has been
     * removed or has expired.
     */
    keyOf(tokenDigest: string): Key | undefined {
      const found = tokens.get(tokenDigest);
      return found && !isExpired(found) ? found.key : undefined;
    },
    /** Returns a key by name, for work that outlives its token; undefined if the key has been removed. */
    named: (name: string): Key | undefined => tokens.values().find(({ key }) => key.name === name)?.key,
    /**
     * Reloads the keys file. Requests in flight keep their key. An invalid file is logged and changes nothing. Resolves
     * when the file has been applied or rejected.
     */
    reload: () => (reloading = reloading.then(reload, reload)),
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

function isExpired({ expires = Infinity }: Token): boolean {
  return expires <= Date.now();
}

/** Returns the tokens of API_KEYS. A repeated token counts as one key. */
async function tokensOfSettings(apiKeys: readonly string[]): Promise<Tokens> {
  const named = [...new Set(apiKeys)].map(async (token): Promise<[string, Token]> => {
    return [digestOf(token), { key: createKey(await nameOfToken(token)), expires: undefined }];
  });
  return new Map(await Promise.all(named));
}

/** Adds the tokens of the keys file to those of API_KEYS. Throws a `SettingsError` for a token that is in both. */
function tokensOf(unnamed: Tokens, entries: readonly KeyEntry[], path = ''): Tokens {
  const tokens = new Map(unnamed);
  const keys = new Map<string, Key>();
  for (const [index, { name, sha256, expires, ...rules }] of entries.entries()) {
    const other = tokens.get(sha256)?.key.name;
    if (other !== undefined) {
      throw new SettingsError(`${path}: keys[${String(index)}].sha256: the token is also ${other} of API_KEYS`);
    }
    const key = keys.get(name) ?? createKey(name, rules);
    keys.set(name, key);
    tokens.set(sha256, { key, expires: expires === undefined ? undefined : Date.parse(expires) });
  }
  return tokens;
}

/** A fast hash is sufficient, because generated tokens have 256 random bits. */
function digestOf(token: string): string {
  return hash('sha256', token);
}

// ------------------------------------------------------------------------------------------------------- changes

/** Returns the names of added, removed and changed keys. A key with added or removed tokens counts as changed. */
function changesBetween(before: readonly KeyEntry[], after: readonly KeyEntry[]) {
  const [old, now] = [Map.groupBy(before, ({ name }) => name), Map.groupBy(after, ({ name }) => name)];
  return {
    added: [...now.keys()].filter((name) => !old.has(name)),
    removed: [...old.keys()].filter((name) => !now.has(name)),
    changed: [...now]
      .filter(([name, entries]) => old.has(name) && fingerprint(old.get(name) ?? []) !== fingerprint(entries))
      .map(([name]) => name),
  };
}

function fingerprint(entries: readonly KeyEntry[]): string {
  return entries
    .map((entry) => JSON.stringify(entry))
    .sort()
    .join();
}

// -------------------------------------------------------------------------------------------------------- expiry

const dayMs = 86_400_000;
const noticeDays = 14;

/** Warns about tokens that are still valid but expire within `noticeDays`. */
function warnOfExpiry(entries: readonly KeyEntry[], log: RingLog): void {
  for (const { name, expires } of entries) {
    const rest = expires === undefined ? Infinity : Date.parse(expires) - Date.now();
    if (rest > 0 && rest <= noticeDays * dayMs) log.warn({ key: name, expires }, 'an API key expires soon');
  }
}
