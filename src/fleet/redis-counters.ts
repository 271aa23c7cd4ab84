/** Counters of the limits of API keys in Redis. Keys appear under pseudonyms. */
import { RateLimiterRedis } from 'rate-limiter-flexible';
import type { Total } from '../limits/budgets.ts';
import { minuteSeconds } from '../limits/minutes.ts';

export interface KeyCountersOptions {
  /** For rate-limiter-flexible: that of ioredis. */
  readonly client: object;
  readonly prefix: string;
  /** Bounds the time of a command. */
  readonly ask: <T>(command: () => Promise<T>) => Promise<T>;
  /** Runs a script that returns numbers, as `ask` does. */
  readonly evaluate: (
    script: string,
    keys: readonly string[],
    ...args: readonly (string | number)[]
  ) => Promise<readonly number[]>;
}

/** Longer than a day, for clocks that differ. */
const usageSeconds = 172_800;

export type KeyCounters = ReturnType<typeof createKeyCounters>;

export function createKeyCounters({ client, prefix, ask, evaluate }: KeyCountersOptions) {
  // As on one machine it only counts: each key has a limit of its own.
  const minutes = new RateLimiterRedis({
    ...{ storeClient: client, rejectIfRedisNotReady: true, keyPrefix: `${prefix}:limit:minute` },
    ...{ points: Number.MAX_SAFE_INTEGER, duration: minuteSeconds },
  });
  const slotsKey = (key: string) => `${prefix}:limit:places:${key}`;

  return {
    /** Counts a request in the minute of the key. */
    async countRequest(key: string) {
      const { consumedPoints, msBeforeNext } = await ask(() => minutes.consume(key));
      return { used: consumedPoints, endsInMs: msBeforeNext };
    },
    /** Takes a slot for `ms` unless the key has `most`. `used`: those that are taken then. */
    async takeSlot(key: string, id: string, most: number, ms: number) {
      const [taken, used = 0] = await evaluate(slotsScript, [slotsKey(key)], ms, most, id);
      return { taken: taken === 1, used };
    },
    /** Takes slots again, however many there are; resolves with the number that the key has then. */
    async keepSlots(key: string, ids: readonly string[], ms: number) {
      const [, used = 0] = await evaluate(slotsScript, [slotsKey(key)], ms, -1, ...ids);
      return used;
    },
    async releaseSlot(key: string, id: string) {
      const [used = 0] = await evaluate(releaseScript, [slotsKey(key)], id);
      return used;
    },
    /** Adds to what the key has used on the day (UTC), and raises it to `atLeast`: Redis may have forgotten it. */
    async charge(key: string, day: string, added: Total, atLeast: Total): Promise<Total> {
      const amounts = [added.audioMs, added.tokens, atLeast.audioMs, atLeast.tokens];
      const keys = [`${prefix}:limit:used:${day}:${key}`];
      const [audioMs = 0, tokens = 0] = await evaluate(chargeScript, keys, usageSeconds, ...amounts);
      return { audioMs, tokens };
    },
    /** Rejects while Redis does not accept changes, for instance because it is full. */
    async probe() {
      await evaluate(probeScript, [`${prefix}:limit:probe`]);
    },
  };
}

const probeScript = `redis.call('SET', KEYS[1], '', 'PX', 1000)`;

/** ARGV: milliseconds, the most that there may be (-1: any number), ids. Scores are when a slot is free, by the clock of Redis. */
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

/** ARGV: seconds, audio and tokens to add, audio and tokens that there are at least. */
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
