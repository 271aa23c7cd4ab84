/** Counters of the API key limits in Redis. Key names are stored as pseudonyms. */
import { RateLimiterRedis } from 'rate-limiter-flexible';
import type { Total } from '../limits/budgets.ts';
import { minuteSeconds } from '../limits/minutes.ts';

export interface KeyCountersOptions {
  /** The ioredis client, for rate-limiter-flexible. */
  readonly client: object;
  readonly prefix: string;
  /** Runs a command with a timeout. */
  readonly ask: <T>(command: () => Promise<T>) => Promise<T>;
  /** Runs a script that returns numbers, with the same timeout. */
  readonly evaluate: (
    script: string,
    keys: readonly string[],
    ...args: readonly (string | number)[]
  ) => Promise<readonly number[]>;
}

/** Two days in seconds: a margin for clocks that differ. */
const usageSeconds = 172_800;

export type KeyCounters = ReturnType<typeof createKeyCounters>;

export function createKeyCounters({ client, prefix, ask, evaluate }: KeyCountersOptions) {
  // Only counts requests and enforces no limit, because each key has its own, as on one machine.
  const minutes = new RateLimiterRedis({
    ...{ storeClient: client, rejectIfRedisNotReady: true, keyPrefix: `${prefix}:limit:minute` },
    ...{ points: Number.MAX_SAFE_INTEGER, duration: minuteSeconds },
  });
  const slotsKey = (key: string) => `${prefix}:limit:places:${key}`;

  return {
    /** Counts a request in the current minute of the key. */
    async countRequest(key: string) {
      const { consumedPoints, msBeforeNext } = await ask(() => minutes.consume(key));
      return { used: consumedPoints, endsInMs: msBeforeNext };
    },
    /**
     * Takes a slot for `ms` milliseconds unless the key already has `most`. `used`: the number of slots taken
     * afterwards.
     */
    async takeSlot(key: string, id: string, most: number, ms: number) {
      const [taken, used = 0] = await evaluate(slotsScript, [slotsKey(key)], ms, most, id);
      return { taken: taken === 1, used };
    },
    /** Renews slots regardless of the limit; resolves with the number of slots of the key. */
    async keepSlots(key: string, ids: readonly string[], ms: number) {
      const [, used = 0] = await evaluate(slotsScript, [slotsKey(key)], ms, -1, ...ids);
      return used;
    },
    async releaseSlot(key: string, id: string) {
      const [used = 0] = await evaluate(releaseScript, [slotsKey(key)], id);
      return used;
    },
    /**
     * Adds to the usage of the key on the day (UTC), and raises it to `atLeast` in case Redis has lost its counters.
     */
    async charge(key: string, day: string, added: Total, atLeast: Total): Promise<Total> {
      const amounts = [added.audioMs, added.tokens, atLeast.audioMs, atLeast.tokens];
      const keys = [`${prefix}:limit:used:${day}:${key}`];
      const [audioMs = 0, tokens = 0] = await evaluate(chargeScript, keys, usageSeconds, ...amounts);
      return { audioMs, tokens };
    },
    /** Rejects while Redis does not accept writes, for example because it is full. */
    async probe() {
      await evaluate(probeScript, [`${prefix}:limit:probe`]);
    },
  };
}

const probeScript = `redis.call('SET', KEYS[1], '', 'PX', 1000)`;

/** ARGV: milliseconds, maximum number of slots (-1: unlimited), ids. Scores are expiry times by the clock of Redis. */
const slotsScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
local used = redis.call('ZCARD', KEYS[1])
local most = tonumber(ARGV[2])
if most >= 0 and used >= most then return { 0, used } end
for index = 3, #ARGV do redis.call('ZADD', KEYS[1], now + ARGV[1], ARGV[index]) end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return { 1, redis.call('ZCARD', KEYS[1]) }`;

const releaseScript = `
redis.call('ZREM', KEYS[1], ARGV[1])
return { redis.call('ZCARD', KEYS[1]) }`;

/** ARGV: seconds to live, audio and tokens to add, minimum of audio and tokens. */
const chargeScript = `
local totals = {}
for index, field in ipairs({ 'audio_ms', 'tokens' }) do
  local total = redis.call('HINCRBY', KEYS[1], field, ARGV[1 + index])
  local least = tonumber(ARGV[3 + index])
  if total < least then
    redis.call('HSET', KEYS[1], field, ARGV[3 + index])
    total = least
  end
  totals[index] = total
end
redis.call('EXPIRE', KEYS[1], ARGV[1])
return totals`;
