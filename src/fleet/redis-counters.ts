/** Counters of the limits of API keys in Redis. Keys appear under pseudonyms. */
import { RateLimiterRedis } from 'rate-limiter-flexible';
import type { Total } from '../limits/budgets.ts';
import { minuteSeconds } from '../limits/minutes.ts';

export interface KeyCounters {
  /** Counts a request in the minute of the key. */
  countRequest(key: string): Promise<{ readonly used: number; readonly endsInMs: number }>;
  /** Takes a slot for `ms` unless the key has `most`. `used`: those that are taken then. */
  takeSlot(
    key: string,
    id: string,
    most: number,
    ms: number,
  ): Promise<{ readonly taken: boolean; readonly used: number }>;
  /** Takes slots again, however many there are; resolves with the number that the key has then. */
  keepSlots(key: string, ids: readonly string[], ms: number): Promise<number>;
  releaseSlot(key: string, id: string): Promise<number>;
  /** Adds to what the key has used on the day (UTC), and raises it to `atLeast`: Redis may have forgotten it. */
  charge(key: string, day: string, added: Total, atLeast: Total): Promise<Total>;
  /** Rejects while Redis does not accept changes, for instance because it is full. */
  readonly probe: () => Promise<void>;
}

/** The parts of ioredis that are used. */
export interface CounterClient {
  eval(script: string, keys: number, ...rest: readonly (string | number)[]): Promise<unknown>;
  set(key: string, value: string, unit: 'PX', ms: number): Promise<unknown>;
}

/** Longer than a day, for clocks that differ. */
const usageSeconds = 172_800;

/** `ask` bounds the time of a command. */
export function createKeyCounters(
  client: CounterClient,
  prefix: string,
  ask: <T>(command: () => Promise<T>) => Promise<T>,
): KeyCounters {
  // As on one machine it only counts: each key has a limit of its own.
  const minutes = new RateLimiterRedis({
    ...{ storeClient: client, rejectIfRedisNotReady: true, keyPrefix: `${prefix}:limit:minute` },
    ...{ points: Number.MAX_SAFE_INTEGER, duration: minuteSeconds },
  });
  const slotsKey = (key: string) => `${prefix}:limit:places:${key}`;
  const evaluate = async (script: string, key: string, ...args: readonly (string | number)[]) =>
    (await ask(() => client.eval(script, 1, key, ...args))) as readonly number[];

  return {
    async countRequest(key) {
      const { consumedPoints, msBeforeNext } = await ask(() => minutes.consume(key));
      return { used: consumedPoints, endsInMs: msBeforeNext };
    },
    async takeSlot(key, id, most, ms) {
      const [taken, used = 0] = await evaluate(slotsScript, slotsKey(key), ms, most, id);
      return { taken: taken === 1, used };
    },
    async keepSlots(key, ids, ms) {
      const [, used = 0] = await evaluate(slotsScript, slotsKey(key), ms, -1, ...ids);
      return used;
    },
    async releaseSlot(key, id) {
      const [used = 0] = await evaluate(releaseScript, slotsKey(key), id);
      return used;
    },
    async charge(key, day, added, atLeast) {
      const amounts = [added.audioMs, added.tokens, atLeast.audioMs, atLeast.tokens];
      const total = await evaluate(chargeScript, `${prefix}:limit:used:${day}:${key}`, usageSeconds, ...amounts);
      return { audioMs: total[0] ?? 0, tokens: total[1] ?? 0 };
    },
    async probe() {
      await ask(() => client.set(`${prefix}:limit:probe`, '', 'PX', 1_000));
    },
  };
}

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
