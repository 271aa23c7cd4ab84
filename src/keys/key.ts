/** An API key: its token and its rules, which define what it may do and how much. */
import { hash, randomBytes, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { createNameFilter } from '../../lib/name-filter.ts';
import type { OperationId } from '../contract/operations.ts';
import type { Key, KeyLimits } from '../request-scope.ts';

/** Rules of a key in the keys file. Missing lists permit all but `operationsByNameOnly`. */
export interface KeyRules {
  /** Operation ids of the native contract. */
  readonly operations?: readonly string[];
  /** Patterns of model ids; see lib/name-filter. */
  readonly models?: readonly string[];
  /** Patterns of the names of the service's own tools. */
  readonly tools?: readonly string[];
  readonly weight?: number;
  readonly limits?: KeyLimits;
}

const anything = () => true;

/** Operations that no key has by default: an entry of the keys file must list them by name. */
export const operationsByNameOnly: readonly string[] = ['startPreparation', 'stopPreparation'] satisfies OperationId[];
const byDefault = (operationId: string) => !operationsByNameOnly.includes(operationId);

/**
 * Returns a function that tests whether an operation is listed. Permission to start preparations includes permission to
 * stop them.
 */
function listed(operations: readonly string[]): Key['mayCall'] {
  const all = operations.includes('startPreparation') ? [...operations, 'stopPreparation'] : operations;
  return (operationId) => all.includes(operationId);
}
const nothing = () => false;

export function createKey(name: string, { operations, models, tools, weight = 1, limits = {} }: KeyRules = {}): Key {
  return {
    name,
    weight,
    limits,
    mayCall: operations ? listed(operations) : byDefault,
    mayUseModel: models ? createNameFilter(models) : anything,
    mayUseTool: tools ? (tools.length === 0 ? nothing : createNameFilter(tools)) : anything,
  };
}

/**
 * Returns the name of a key of API_KEYS: `key:` and 8 hex digits, which cannot be a name in the keys file. Jobs, usage
 * and client secrets belong to the name, so it depends on the token alone. The name also appears in the log and in
 * metrics, and people choose these tokens, so guessing a token from its name must be slow: computing a name takes 40 ms
 * in another thread.
 */
export async function nameOfToken(token: string): Promise<string> {
  const digest = (await promisify(scrypt)(token, 'parlance: a key of API_KEYS', 4)) as Buffer;
  return `key:${digest.toString('hex')}`;
}

/** Creates a token (`pl_NAME_` and 43 base64url characters with 256 random bits), and its hash for the keys file. */
export function createToken(name: string) {
  const token = `pl_${name}_${randomBytes(32).toString('base64url')}`;
  return { token, sha256: hash('sha256', token) };
}
