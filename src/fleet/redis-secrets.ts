/**
 * Client secrets that every front accepts. Redis has only their hashes: what belongs to a secret is encrypted with a
 * key derived from it and FLEET_SECRET, so that Redis can neither read it nor forge one.
 */
import { createCipheriv, createDecipheriv, createHmac, hash, randomBytes } from 'node:crypto';
import { ProblemError } from '../contract/problems.ts';
import type { SecretStore, StoredSecret } from '../keys/client-secrets.ts';
import type { KeyCountersOptions } from './redis-counters.ts';
import { pseudonymOf } from './ticket.ts';

interface RedisSecretsOptions extends KeyCountersOptions {
  /** The ioredis client. */
  readonly client: { get(key: string): Promise<string | null> };
}

/** Returns a function that opens the store for a FLEET_SECRET. */
export function createRedisSecrets({ client, prefix, ask, evaluate }: RedisSecretsOptions) {
  const entryOf = (token: string) => `${prefix}:secret:${hash('sha256', token)}`;
  return (fleetSecret: string): SecretStore => {
    const keyOf = (token: string) => createHmac('sha256', fleetSecret).update(`client-secret\n${token}`).digest();
    return {
      async add(token, secret, most) {
        const keys = [entryOf(token), `${prefix}:secrets:${pseudonymOf(fleetSecret, secret.key ?? '')}`];
        const ms = Math.max(1, secret.expires - Date.now());
        const [added] = await evaluate(addScript, keys, ms, most, seal(keyOf(token), secret)).catch(unavailable);
        return added === 1;
      },
      async find(token) {
        const sealed = await ask(() => client.get(entryOf(token))).catch(unavailable);
        return sealed === null ? undefined : open(keyOf(token), sealed);
      },
    };
  };
}

/** KEYS: the secret, the set of its owner. ARGV: milliseconds, maximum, sealed secret. */
const addScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
if redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[2]) then return { 0 } end
redis.call('ZADD', KEYS[2], now + ARGV[1], KEYS[1])
if redis.call('PTTL', KEYS[2]) < tonumber(ARGV[1]) then redis.call('PEXPIRE', KEYS[2], ARGV[1]) end
redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[1])
return { 1 }`;

function unavailable(cause: unknown): never {
  const detail = 'Client secrets are unavailable for the moment; try again later.';
  throw new ProblemError('overloaded', detail, { cause, headers: { 'Retry-After': '5' } });
}

const cipher = 'aes-256-gcm';
const [ivBytes, tagBytes] = [12, 16];

function seal(key: Buffer, secret: StoredSecret): string {
  const iv = randomBytes(ivBytes);
  const sealing = createCipheriv(cipher, key, iv);
  const sealed = [sealing.update(JSON.stringify(secret), 'utf8'), sealing.final()];
  return Buffer.concat([iv, sealing.getAuthTag(), ...sealed]).toString('base64url');
}

/** Returns undefined if the value was not sealed by a front of this fleet. */
function open(key: Buffer, sealed: string): StoredSecret | undefined {
  const bytes = Buffer.from(sealed, 'base64url');
  try {
    const opening = createDecipheriv(cipher, key, bytes.subarray(0, ivBytes));
    opening.setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes));
    const text = Buffer.concat([opening.update(bytes.subarray(ivBytes + tagBytes)), opening.final()]).toString();
    return JSON.parse(text) as StoredSecret;
  } catch {
    return undefined;
  }
}
