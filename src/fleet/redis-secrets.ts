/** Client secrets in Redis, sealed, by the hash of the secret. */
import type { KeyCountersOptions } from './redis-counters.ts';

export interface SealedSecret {
  readonly digest: string;
  /** Pseudonym of the API key. */
  readonly owner: string;
  readonly sealed: string;
}

export interface RedisSecretsOptions extends Omit<KeyCountersOptions, 'client'> {
  /** The ioredis client. */
  readonly client: { get(key: string): Promise<string | null> };
}

export type RedisSecrets = ReturnType<typeof createRedisSecrets>;

export function createRedisSecrets({ client, prefix, ask, evaluate }: RedisSecretsOptions) {
  const secretKey = (digest: string) => `${prefix}:secret:${digest}`;
  return {
    /** Keeps the secret for `ms` milliseconds; resolves with false if the owner has `most` already. */
    async add({ digest, owner, sealed }: SealedSecret, ms: number, most: number): Promise<boolean> {
      const keys = [secretKey(digest), `${prefix}:secrets:${owner}`];
      const [added] = await evaluate(addScript, keys, ms, most, digest, sealed);
      return added === 1;
    },
    find: async (digest: string): Promise<string | undefined> =>
      (await ask(() => client.get(secretKey(digest)))) ?? undefined,
  };
}

/** KEYS: the secret, the set of its owner. ARGV: milliseconds, maximum, hash, sealed secret. */
const addScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
if redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[2]) then return { 0 } end
redis.call('ZADD', KEYS[2], now + ARGV[1], ARGV[3])
if redis.call('PTTL', KEYS[2]) < tonumber(ARGV[1]) then redis.call('PEXPIRE', KEYS[2], ARGV[1]) end
redis.call('SET', KEYS[1], ARGV[4], 'PX', ARGV[1])
return { 1 }`;
