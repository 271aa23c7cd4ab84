/**
 * Redis: the only file that knows bullmq and ioredis. They are in a folder of their own (src/fleet/packages/), which only a start with
 * FLEET_URL installs; the development packages have them for their types.
 */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type * as BullMQ from 'bullmq';
import type * as IORedisPackage from 'ioredis';
import type { Logger } from '../../engines/contract/index.ts';
import { raceAbort, startTimeout } from '../../lib/abort.ts';
import { ignore } from '../../lib/ignore.ts';
import { SettingsError } from '../settings/load.ts';
import type { FleetTimeouts } from './timeouts.ts';
import { createKeyCounters } from './redis-counters.ts';
import type { Ticket } from './ticket.ts';

/** Where a waiting ticket is: its number of tickets ahead, with a worker, or nowhere. */
export type QueuePosition = number | 'taken' | 'lost';

export interface TicketQueue {
  add(jobId: string, ticket: Ticket, priority: number): Promise<void>;
  remove(jobId: string): Promise<void>;
  positionsOf(jobIds: readonly string[]): Promise<QueuePosition[]>;
}

/** An open call in the sets that fronts share. */
export interface OpenCallKey {
  readonly id: string;
  readonly instance: string;
  /** Not the caller's name: a pseudonym. */
  readonly caller: string;
}

/** Open calls of the instance, this one included. */
export interface OpenCallCounts {
  readonly calls: number;
  readonly ofCaller: number;
  readonly callers: number;
}

/** Facts that a Redis server reports. */
export interface ServerFacts {
  /** Redis version, or the one that the server is compatible with. */
  readonly version: string;
  /** Undefined where it does not allow the question. */
  readonly evictionPolicy: string | undefined;
  /** By how many milliseconds its clock is ahead of ours. */
  readonly aheadMs: number;
}

export interface RedisOptions {
  readonly url: string;
  readonly prefix: string;
  readonly limits: FleetTimeouts;
  readonly log: Logger;
  /** Called whenever a connection is ready. */
  readonly onReady: () => void;
}

/** BullMQ's own strategy waits for up to 20 s after Redis is back. */
const retryStrategy = () => 500;

export type Redis = ReturnType<typeof openRedis>;
export type TicketWorker = ReturnType<Redis['work']>;

/**
 * Does not wait for Redis: every function rejects within two seconds when it does not answer. Throws a `SettingsError` if
 * the packages are missing.
 */
export function openRedis({ url, prefix, limits, log, onReady }: RedisOptions) {
  const { bullmq, IORedis } = loadPackages();
  const { redisMs, takeMs } = limits;
  const connecting = { retryStrategy, connectTimeout: redisMs };
  // Fails at once without Redis: a request must not wait for it. A connection without an answer in time is replaced: a
  // firewall may have dropped it without a FIN.
  const commands = { enableOfflineQueue: false, maxRetriesPerRequest: 1, socketTimeout: redisMs };
  const client = new IORedis(url, { ...connecting, ...commands });
  const closings: (() => Promise<unknown>)[] = [];
  logOutages(client, log, onReady);
  const attempted = new Promise<void>((resolve) => client.on('ready', resolve).on('close', resolve));
  const indexKey = `${prefix}:nodes`;
  const setsOf = (instance: string, caller: string) =>
    ['calls', `calls:${caller}`, 'callers'].map((set) => `${prefix}:open:${instance}:${set}`);
  const nodeKey = (id: string) => `${prefix}:node:${id}`;

  async function ask<T>(command: () => Promise<T>): Promise<T> {
    // BullMQ waits for the first connection for ever.
    if (client.status !== 'ready') throw new Error('Redis is not connected');
    using timeout = startTimeout(redisMs, () => new Error(`Redis did not answer within ${redisMs} ms`));
    try {
      return await raceAbort(command(), timeout.signal);
    } catch (error) {
      throw loggable(error);
    }
  }

  /** For our own scripts, which return numbers. */
  async function evaluate(script: string, keys: readonly string[], ...args: readonly (string | number)[]) {
    return (await ask(() => client.eval(script, keys.length, ...keys, ...args))) as readonly number[];
  }

  /** Waits for the first attempt to connect. Undefined where Redis does not answer or does not allow the question. */
  async function evictionPolicy(): Promise<string | undefined> {
    await Promise.race([attempted, sleep(redisMs, undefined, { ref: false })]);
    const [, policy] = await ask(() => client.config('GET', 'maxmemory-policy')).catch(() => []);
    return policy;
  }

  return {
    /** Whether Redis is connected: not from the first command without an answer in time to the next answer. */
    get isReady() {
      return client.status === 'ready';
    },
    queue(name: string): TicketQueue {
      const queue = new bullmq.Queue(name, { connection: client, prefix });
      queue.on('error', ignore); // those of its connection, which logs them
      closings.push(() => queue.close());
      return {
        async add(jobId, ticket, priority) {
          // The front retries, nobody else; finished tickets are removed.
          const options = { jobId, priority, attempts: 1, removeOnComplete: true, removeOnFail: true };
          await ask(() => queue.add('call', ticket, options));
        },
        async remove(jobId) {
          await ask(() => queue.remove(jobId));
        },
        positionsOf: (jobIds) => ask(() => positionsOf(queue, client, jobIds)),
      };
    },
    /** Takes up to `slots` tickets at a time; `run` never rejects. */
    work(name: string, slots: number, run: (ticket: unknown) => Promise<void>) {
      // One of its connections waits for a ticket for as long as `takeMs`.
      const socketTimeout = takeMs + redisMs;
      const connection = new IORedis(url, { ...connecting, maxRetriesPerRequest: null, socketTimeout });
      connection.on('error', ignore); // the same outage as that of `client`
      const worker = new bullmq.Worker(name, (job) => run(job.data), {
        ...{ connection, prefix, concurrency: slots, autorun: false, drainDelay: takeMs / 1000 },
        // A stalled job never runs again: its front has noticed long before.
        ...{ maxStalledCount: 0, runRetryDelay: retryStrategy() },
      });
      worker.on('error', (error) => log.debug({ err: loggable(error) }, 'a queue of the fleet failed'));
      worker.run().catch((error: unknown) => log.error({ err: loggable(error) }, 'the worker takes no more tickets'));
      closings.push(async () => {
        // Without Redis, close() would never resolve: it reports finished calls first.
        await Promise.race([worker.close(true), sleep(redisMs, undefined, { ref: false })]);
        connection.disconnect();
      });
      return {
        /** Takes no more tickets but one that it may be waiting for. */
        pause: () => void worker.pause(true),
        resume: () => void worker.resume(),
        /** Takes no more tickets; resolves when those at work are done and Redis knows. */
        close: () => worker.close(),
      };
    },
    /** Holds an open call, again and again, for `ms`. */
    async keepOpen({ id, instance, caller }: OpenCallKey, ms: number): Promise<OpenCallCounts> {
      const sets = setsOf(instance, caller);
      const [calls = 0, ofCaller = 0, callers = 0] = await evaluate(keepOpenScript, sets, id, caller, ms);
      return { calls, ofCaller, callers };
    },
    async release({ id, instance, caller }: OpenCallKey) {
      await evaluate(releaseScript, setsOf(instance, caller), id, caller);
    },
    /** For the limits of API keys. */
    counters: createKeyCounters({ client, prefix, ask, evaluate }),
    /** The transcriptions of an instance in the whole fleet: all, and those with a worker. */
    async countCalls(instance: string, queue: string) {
      const [calls = ''] = setsOf(instance, '');
      const [open = 0, running = 0] = await evaluate(countScript, [calls, `${prefix}:${queue}:active`]);
      return { open, running };
    },
    /** Waits for the first attempt to connect. */
    async inspect(): Promise<ServerFacts> {
      const policy = await evictionPolicy();
      const info = await ask(() => client.info('server'));
      const [seconds = 0, micros = 0] = (await ask(() => client.time())).map(Number);
      return {
        version: /^redis_version:(\S+)/m.exec(info)?.[1] ?? 'unknown',
        evictionPolicy: policy,
        aheadMs: seconds * 1000 + micros / 1000 - Date.now(),
      };
    },
    evictionPolicy,
    /** Announces a node for `ms`. */
    async announce(id: string, text: string, ms: number) {
      await ask(() => Promise.all([client.sadd(indexKey, id), client.set(nodeKey(id), text, 'PX', ms)]));
    },
    async withdraw(id: string) {
      await ask(() => Promise.all([client.srem(indexKey, id), client.del(nodeKey(id))]));
    },
    /** The announcements, by node. */
    announced: (): Promise<ReadonlyMap<string, string>> =>
      ask(async () => {
        const ids = await client.smembers(indexKey);
        const texts = ids.length === 0 ? [] : await client.mget(...ids.map(nodeKey));
        const found = new Map(ids.flatMap((id, index) => (texts[index] == null ? [] : [[id, texts[index]]])));
        const gone = ids.filter((id) => !found.has(id));
        if (gone.length > 0) await client.srem(indexKey, ...gone);
        return found;
      }),
    async [Symbol.asyncDispose]() {
      await Promise.allSettled(closings.map((close) => close()));
      client.disconnect();
    },
  };
}

/** KEYS: all open calls, those of the caller, all callers. Scores are when they leave, by the clock of Redis. */
const keepOpenScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local members = { ARGV[1], ARGV[1], ARGV[2] }
local counts = {}
for index, key in ipairs(KEYS) do
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now)
  redis.call('ZADD', key, now + ARGV[3], members[index])
  redis.call('PEXPIRE', key, ARGV[3])
  counts[index] = redis.call('ZCARD', key)
end
return counts`;

/** KEYS: all open calls, the tickets with a worker. */
const countScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
return { redis.call('ZCOUNT', KEYS[1], '(' .. now, '+inf'), redis.call('LLEN', KEYS[2]) }`;

const releaseScript = `
redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('ZREM', KEYS[2], ARGV[1])
if redis.call('EXISTS', KEYS[2]) == 0 then redis.call('ZREM', KEYS[3], ARGV[2]) end`;

/** A ticket with a priority waits in the sorted set `prioritized`, in the order in which workers take. */
async function positionsOf(
  queue: BullMQ.Queue,
  client: IORedisPackage.Redis,
  jobIds: readonly string[],
): Promise<QueuePosition[]> {
  const waiting = queue.toKey('prioritized');
  return Promise.all(
    jobIds.map(async (jobId) => {
      const ahead = await client.zrank(waiting, jobId);
      if (ahead !== null) return ahead;
      return (await queue.getJobState(jobId)) === 'active' ? 'taken' : 'lost';
    }),
  );
}

/** One line when Redis goes and one when it comes back, instead of one for each attempt to connect. */
function logOutages(client: IORedisPackage.Redis, log: Logger, onReady: () => void): void {
  let isAway = false;
  const noteOutage = (facts: object, what: string) => {
    if (!isAway) log.error(facts, `${what}; retrying twice a second`);
    isAway = true;
  };
  client.on('error', (error) => noteOutage({ err: loggable(error) }, 'Redis cannot be reached'));
  client.on('close', () => noteOutage({}, 'Redis has closed the connection'));
  client.on('ready', () => {
    if (isAway) log.info({}, 'Redis is connected');
    isAway = false;
    onReady();
  });
}

/** Without the failed command: its arguments have addresses of calls, and at the start the password of Redis. */
function loggable(error: unknown): Error {
  const { name, message, code } = error as NodeJS.ErrnoException;
  return Object.assign(new Error(message), { name }, code !== undefined && { code });
}

/** Whether Redis has answered with the error: it is there. */
export function isReply(error: unknown): boolean {
  return error instanceof Error && error.name === 'ReplyError';
}

/** From src/fleet/packages/ of a clone or an image; from the package's own neighbours where it was installed by npm. */
function loadPackages() {
  const folder = join(import.meta.dirname, 'packages');
  const isClone = existsSync(join(folder, 'package.json'));
  const load = createRequire(isClone ? join(folder, 'package.json') : import.meta.url);
  try {
    const { Redis: IORedis } = load('ioredis') as typeof IORedisPackage;
    return { bullmq: load('bullmq') as typeof BullMQ, IORedis };
  } catch (cause) {
    const fix = isClone
      ? 'npm ci --prefix src/fleet/packages --ignore-scripts'
      : 'npm install bullmq@6.7.0 ioredis@6.0.0';
    throw new SettingsError(`FLEET_URL: the packages of the fleet are not installed; fix: ${fix}`, { cause });
  }
}
