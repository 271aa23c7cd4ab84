/** Reads and validates the keys file, which contains only hashes of tokens. */
import { isDeepStrictEqual } from 'node:util';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { newKeyCommand } from '../../lib/setup-command.ts';
import { nativeContract } from '../contract/document.ts';
import { SettingsError } from '../settings/load.ts';
import { describeErrors, explainable, type SettingLocation } from '../settings/schema-errors.ts';
import { readSettled } from '../settings/settled-files.ts';
import { parseYaml } from '../settings/yaml.ts';
import type { KeyRules } from './key.ts';
import { grantableOperations, keysFileSchema } from './schema.ts';

/** An entry of the file: one token of the key with this name. */
export interface KeyEntry extends KeyRules {
  readonly name: string;
  /** SHA-256 of the token in lower-case hex. */
  readonly sha256: string;
  /** Expiry date and time (RFC 3339). Default: never. */
  readonly expires?: string;
}

const { $schema: _draft, ...schema } = keysFileSchema(grantableOperations(nativeContract.document)); // valid in drafts 7 and 2020-12

/**
 * Resolves with the entries, possibly none. Throws a `SettingsError` that lists each mistake. A half-written file may
 * be valid but lack the lines that restrict a key, so the file is read until it is stable.
 */
export async function readKeysFile(path: string, wait?: () => Promise<void>): Promise<readonly KeyEntry[]> {
  const [text = ''] = await readSettled([{ setting: 'API_KEYS_FILE', path }], wait);
  const values = parseYaml(text, path);
  const mistakes = schemaMistakes(values, path);
  if (mistakes.length > 0) throw new SettingsError(mistakes.join('\n'));
  const entries = (values as { readonly keys: readonly KeyEntry[] }).keys.map((entry) => ({
    ...entry,
    sha256: entry.sha256.toLowerCase(),
  }));
  const clashes = clashesIn(entries).map((clash) => `${path}: ${clash}`);
  if (clashes.length > 0) throw new SettingsError(clashes.join('\n'));
  return entries;
}

let validate: ValidateFunction | undefined;

/** Called lazily and only once, because compiling takes 20 ms. */
function compile(): ValidateFunction {
  const ajv = new Ajv2020(explainable);
  addFormats.default(ajv, ['date-time']);
  return ajv.compile(schema);
}

function schemaMistakes(values: unknown, path: string): string[] {
  validate ??= compile();
  if (validate(values)) return [];
  return describeErrors(validate.errors ?? [], (pointer) => locationOf(pointer, path));
}

function locationOf(pointer: string, path: string): SettingLocation {
  const location = pointer
    .slice(1)
    .replaceAll(/\/(\d+)(?=\/|$)/g, '[$1]')
    .replaceAll('/', '.');
  const where = location === '' ? path : `${path}: ${location}`;
  if (location.endsWith('.sha256')) {
    // The value may be the token itself, so it is not shown.
    const expects = `must be the SHA-256 of the token, as 64 hex digits; fix: ${newKeyCommand}`;
    return { where, secret: true, expects };
  }
  if (location.endsWith('.name')) {
    const expects = 'must have 1 to 32 of a-z, 0-9, - and _, and begin with a letter or digit';
    return { where, expects };
  }
  return location.endsWith('.expires') ? { where, expects: 'must be a time such as 2027-03-01T00:00:00Z' } : { where };
}

/** Entries with the same name are tokens of one key, so their rules must be equal. */
function clashesIn(entries: readonly KeyEntry[]): string[] {
  const byHash = new Map<string, number>();
  const byName = new Map<string, { readonly index: number; readonly rules: object }>();
  return entries.flatMap(({ name, sha256, expires: _expires, ...rules }, index) => {
    const twin = byHash.get(sha256);
    const first = byName.get(name);
    if (twin === undefined) byHash.set(sha256, index);
    if (first === undefined) byName.set(name, { index, rules });
    const location = `keys[${String(index)}]`;
    if (twin !== undefined) return [`${location}.sha256: keys[${String(twin)}] has the same token`];
    if (first === undefined || isDeepStrictEqual(rules, first.rules)) return [];
    const what = `another token of the key "${name}" (keys[${String(first.index)}])`;
    return [`${location}: ${what}: they may differ in sha256 and expires only`];
  });
}
