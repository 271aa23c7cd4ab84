/** Keys for tests: tokens, and the file that has their hashes. */
import { createHash } from 'node:crypto';
import type { KeyRules } from '../../../src/keys/key.ts';

/** The token of the key with this name; long enough. */
export const tokenOf = (name: string, version = 1): string => `pl_${name}_${String(version)}_0123456789abcdefghij`;

export const sha256 = (token: string): string => createHash('sha256').update(token).digest('hex');

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

export interface TestEntry extends KeyRules {
  readonly name: string;
  readonly expires?: string;
  /** Each version of an entry has a token of its own. */
  readonly version?: number;
}

/** JSON, which is YAML. */
export function keysFile(...entries: readonly TestEntry[]): string {
  const keys = entries.map(({ version, ...entry }) => ({ ...entry, sha256: sha256(tokenOf(entry.name, version)) }));
  return JSON.stringify({ keys });
}
