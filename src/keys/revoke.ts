/** Removes a key from the keys file. Other entries and their comments stay. */
import { realpath, stat } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { isMap, isSeq, parseDocument } from 'yaml';
import { messageOf } from '../../lib/errors.ts';
import { replaceFile } from '../../lib/regular-file.ts';
import { SettingsError } from '../settings/load.ts';
import { readOperatorFile } from '../settings/read-file.ts';
import { parseYaml } from '../settings/yaml.ts';
import { readKeysFile } from './keys-file.ts';

/**
 * Resolves with the number of removed tokens; 0 if the key does not exist. Throws a `SettingsError` if the key cannot
 * be removed.
 */
export async function revokeKey(path: string, name: string): Promise<number> {
  const entries = await readKeysFile(path);
  const count = entries.filter((entry) => entry.name === name).length;
  if (count === 0) return 0;
  const { text: before, isRegular } = await readOperatorFile(path);
  if (!isRegular)
    throw new SettingsError(`${path} is not a file that can be replaced; fix: remove the entries by hand`);
  const after = withoutKey(before, name);
  const others = entriesIn(before, path).filter((entry) => entry.name !== name);
  if (after === undefined || !isDeepStrictEqual(entriesIn(after, path), others)) {
    throw new SettingsError(`${path}: other keys use parts of "${name}"; fix: remove its entries by hand`);
  }
  await replace(path, after).catch((cause: unknown) => {
    throw new SettingsError(`${path} cannot be replaced: ${messageOf(cause)}`, { cause });
  });
  return count;
}

/** Returns the file without the key; undefined if an alias refers to a removed part. */
function withoutKey(text: string, name: string): string | undefined {
  const document = parseDocument(text);
  const keys = document.get('keys', true);
  if (!isSeq(keys)) return undefined;
  keys.items = keys.items.filter((entry) => !isMap(entry) || entry.get('name') !== name);
  try {
    return document.toString({ lineWidth: 0 });
  } catch {
    return undefined;
  }
}

const entriesIn = (text: string, path: string) =>
  (parseYaml(text, path) as { readonly keys: readonly { readonly name: string }[] }).keys;

/** Replaces the file atomically, because a service may be reading it. */
async function replace(path: string, text: string): Promise<void> {
  const file = await realpath(path);
  await replaceFile(file, text, await stat(file));
}
