/** The doctor's findings about the keys file. */
import type { Finding } from '../../engines/contract/index.ts';
import { commandLine } from '../../lib/setup-command.ts';
import { capabilities } from '../engine-host/registry/load-definition.ts';
import type { Registry } from '../engine-host/registry/registry.ts';
import { createKey } from '../keys/key.ts';
import { openKeyRing } from '../keys/key-ring.ts';
import { readKeysFile, type KeyEntry } from '../keys/keys-file.ts';
import { SettingsError, type LoadedSettings } from '../settings/load.ts';

const silent = { info() {}, warn() {}, error() {} };

/** The keys file is unusable if the service cannot start with it or if it contains no valid key. */
export async function checkKeys(settings: LoadedSettings, registry: Registry) {
  const { apiKeysFile: path } = settings;
  if (path === undefined) return { findings: [], isUsable: true };
  try {
    (await openKeyRing(settings, silent))?.[Symbol.dispose]();
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return { findings: [{ what: 'keys file', ok: false, detail: error.message }], isUsable: false };
  }
  const entries = await readKeysFile(path);
  const expired = entries.filter(({ expires }) => expires !== undefined && Date.parse(expires) <= Date.now());
  const isUsable = expired.length < entries.length;
  const names = [...new Set(entries.map(({ name }) => name))];
  const summary = { what: 'keys file', ok: isUsable, detail: `${path}: ${names.join(', ')}` };
  const times = entries.filter(({ expires }) => expires !== undefined).map(describeExpiry);
  return { findings: [summary, ...times, ...keysWithoutModel(entries, registry)], isUsable };
}

function describeExpiry({ name, expires = '' }: KeyEntry): Finding {
  const isOver = Date.parse(expires) <= Date.now();
  if (!isOver) return { what: name, ok: true, detail: `a token expires at ${expires}` };
  return {
    what: name,
    ok: false,
    detail: `a token expired at ${expires}`,
    fix: `remove the entry, or make a new token: ${commandLine('key', 'new', name)}`,
  };
}

function keysWithoutModel(entries: readonly KeyEntry[], registry: Registry): Finding[] {
  const served = capabilities.flatMap((capability) => registry.of(capability).all);
  return [...new Map(entries.map((entry) => [entry.name, entry])).values()]
    .filter(
      ({ name, ...rules }) => served.length > 0 && !served.some(({ id }) => createKey(name, rules).mayUseModel(id)),
    )
    .map(({ name }) => {
      const fix = `change its \`models\`; served are ${served.map(({ id }) => id).join(', ')}`;
      return { what: name, ok: false, detail: 'the key may not use any of the models that are served now', fix };
    });
}
