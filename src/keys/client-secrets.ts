/**
 * Client secrets: short-lived tokens with which a page opens sessions of live transcription. A secret has the
 * permissions and limits of the API key that created it, and becomes invalid together with the token of that key.
 */
import { hash, randomBytes } from 'node:crypto';
import { ProblemError } from '../contract/problems.ts';
import { currentScope } from '../request-scope.ts';
import type { Credential, KeyRing } from './key-ring.ts';

export interface StoredSecret {
  /** Name of the API key; undefined in open mode. */
  readonly key?: string | undefined;
  /** SHA-256 of the token that created the secret, in hex; undefined in open mode. */
  readonly tokenDigest?: string | undefined;
  /** The session configuration with which connections begin. */
  readonly session: object;
  /** Milliseconds since 1970. */
  readonly expires: number;
}

/** Stores secrets by their hash, never the tokens themselves. */
export interface SecretStore {
  /** Adds a secret. Resolves with false if the key already has `most` valid secrets. */
  add(token: string, secret: StoredSecret, most: number): Promise<boolean>;
  /** Resolves with undefined for an unknown secret; an expired one may still be found. */
  find(token: string): Promise<StoredSecret | undefined>;
}

/** The owner of a session. */
export interface SessionAccess {
  /** The token of the request, or the token that created the client secret; undefined in open mode. */
  readonly credential: Credential | undefined;
  /** The session configuration of the client secret; undefined without a client secret. */
  readonly session?: object;
  /** A hash that identifies the client secret; undefined without one. */
  readonly secret?: string;
}

const maxSecrets = 1_000;
const prefix = 'ek_';

export type ClientSecrets = ReturnType<typeof createClientSecrets>;

export function createClientSecrets(store: SecretStore, keys: Pick<KeyRing, 'keyOf'> | undefined) {
  return {
    /** Creates a secret for the API key of the current request. Rejects with `rate-limited`. */
    async create(seconds: number, session: object) {
      const value = `${prefix}${randomBytes(32).toString('base64url')}`;
      const { key, tokenDigest } = currentScope() ?? {};
      const secret = { key: key?.name, tokenDigest, session, expires: Date.now() + seconds * 1000 };
      if (await store.add(value, secret, maxSecrets)) return { value, expires: secret.expires };
      throw new ProblemError('rate-limited', `The API key has ${String(maxSecrets)} client secrets; let some expire.`);
    },
    /**
     * Resolves with undefined for other tokens, and for secrets that are unknown or expired, or whose token is no
     * longer valid.
     */
    async find(token: string): Promise<SessionAccess | undefined> {
      const secret = token.startsWith(prefix) ? await store.find(token) : undefined;
      if (!secret || secret.expires <= Date.now()) return undefined;
      const { tokenDigest = '', session } = secret;
      const ofSecret = { session, secret: digestOf(token) };
      if (keys === undefined) return { credential: undefined, ...ofSecret };
      const key = keys.keyOf(tokenDigest);
      return key && { credential: { key, tokenDigest }, ...ofSecret };
    },
  };
}

/** Creates a store for the secrets of this process. */
export function createSecretStore(): SecretStore {
  const secrets = new Map<string, StoredSecret>();
  return {
    add(token, secret, most) {
      for (const [other, { expires }] of secrets) if (expires <= Date.now()) secrets.delete(other);
      const count = [...secrets.values()].filter(({ key }) => key === secret.key).length;
      if (count < most) secrets.set(digestOf(token), secret);
      return Promise.resolve(count < most);
    },
    find: (token) => Promise.resolve(secrets.get(digestOf(token))),
  };
}

function digestOf(token: string): string {
  return hash('sha256', token);
}
