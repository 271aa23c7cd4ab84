/**
 * Redis; the only file that uses bullmq and ioredis. A clone installs both in src/fleet/packages/, for a start with
 * FLEET_URL and for development; the devDependencies include them for their types.
 */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type * as BullMQ from 'bullmq';
import type * as IORedisPackage from 'ioredis';
import type { Logger } from '../../engines/contract/index.ts';
import { raceAbort, startTimeout } from '../../lib/abort.ts';
import { ignore } from '../../lib/errors.ts';
import { SettingsError } from '../settings/load.ts';
import type { FleetTimeouts } from './timeouts.ts';
import { createKeyCounters } from './redis-counters.ts';
import { createRedisSecrets } from './redis-secrets.ts';
import type { Ticket } from './ticket.ts';

/** State of a queued ticket: the number of tickets ahead of it, or whether a worker has taken it or it is lost. */
export type QueuePosition = number | 'taken' | 'lost';

export interface TicketQueue {
  add(jobId: string, ticket: Ticket, priority: number): Promise<void>;
  remove(jobId: string): Promise<void>;
  positionsOf(jobIds: readonly string[]): Promise<QueuePosition[]>;
}

/** Identifies an open call in the sets that all fronts share. */
export interface OpenCallKey {
  readonly id: string;
  readonly instance: string;
  /** Pseudonym of the caller. */
  readonly caller: string;
}

/** Numbers of open calls of the instance, of those by the same caller, and of callers; each includes this call. */
export interface OpenCallCounts {
  readonly calls: number;
  readonly ofCaller: number;
  readonly callers: number;
}

/** Properties of the Redis server. */
export interface ServerFacts {
  /** Redis version, or the version that the server is compatible with. */
  readonly version: string;
  /** maxmemory-policy; undefined if the server hides it. */
  readonly evictionPolicy: string | undefined;
  /** Milliseconds by which the clock of Redis is ahead of this machine's. */
  readonly aheadMs: number;
}

export interface RedisOptions {
  readonly url: string;
  readonly prefix: string;
  readonly timeouts: FleetTimeouts;
  readonly log: Logger;
  /** Called whenever a connection is ready. */
  readonly onReady: () => void;
}

/** Reconnects every 500 ms. BullMQ's default may wait up to 20 s after Redis is back. */
const retryStrategy = () => 500;

export type Redis = ReturnType<typeof openRedis>;
export type TicketWorker = ReturnType<Redis['work']>;

/**
 * Does not wait for Redis: every command rejects within two seconds if Redis does not respond. Throws a `SettingsError`
 * if the packages are not installed.
 */
export function openRedis({ url, prefix, timeouts, log, onReady }: RedisOptions) {
  const { bullmq, IORedis } = loadPackages();
  const { redisMs, takeMs } = timeouts;
  const connecting = { retryStrategy, connectTimeout: redisMs };
  // Commands fail immediately while Redis is unavailable, because a request must not wait for it. A connection that
  // times out is replaced, because a firewall may have dropped it without a FIN.
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
    // BullMQ waits forever for the first connection.
    if (client.status !== 'ready') throw new Error('Redis is not connected');
    using timeout = startTimeout(redisMs, () => new Error(`Redis did not answer within ${redisMs} ms`));
    try {
      return await raceAbort(command(), timeout.signal);
    } catch (error) {
      throw loggable(error);
    }
  }

  /** Runs one of our Lua scripts, which return numbers. */
  async function evaluate(script: string, keys: readonly string[], ...args: readonly (string | number)[]) {
    return (await ask(() => client.eval(script, keys.length, ...keys, ...args))) as readonly number[];
  }

  /** Waits for the first connection attempt. Resolves with undefined if Redis does not respond or hides its policy. */
  async function evictionPolicy(): Promise<string | undefined> {
    await Promise.race([attempted, sleep(redisMs, undefined, { ref: false })]);
    const [, policy] = await ask(() => client.config('GET', 'maxmemory-policy')).catch(() => []);
    return policy;
  }

  return {
    /** Whether Redis is connected; false after a command has timed out, until it is connected again. */
    get isReady() {
      return client.status === 'ready';
    },
    queue(name: string): TicketQueue {
      const queue = new bullmq.Queue(name, { connection: client, prefix });
      queue.on('error', ignore); // the shared connection logs its errors
      closings.push(() => queue.close());
      return {
        async add(jobId, ticket, priority) {
          // Only the front retries. Finished tickets are removed.
          const options = { jobId, priority, attempts: 1, removeOnComplete: true, removeOnFail: true };
          await ask(() => queue.add('call', ticket, options));
        },
        async remove(jobId) {
          await ask(() => queue.remove(jobId));
        },
        positionsOf: (jobIds) => ask(() => positionsOf(queue, client, jobIds)),
      };
    },
    /** Processes up to `slots` tickets at a time. `run` must not reject. */
    work(name: string, slots: number, run: (ticket: unknown) => Promise<void>) {
      // One of the worker's connections blocks for `takeMs` while it waits for a ticket.
      const socketTimeout = takeMs + redisMs;
      const connection = new IORedis(url, { ...connecting, maxRetriesPerRequest: null, socketTimeout });
      connection.on('error', ignore); // `client` logs the same outage
      const worker = new bullmq.Worker(name, (job) => run(job.data), {
        ...{ connection, prefix, concurrency: slots, autorun: false, drainDelay: takeMs / 1000 },
        // A stalled ticket never runs again: its front has queued the call again long before.
        ...{ maxStalledCount: 0, runRetryDelay: retryStrategy() },
      });
      worker.on('error', (error) => log.debug({ err: loggable(error) }, 'a queue of the fleet failed'));
      worker.run().catch((error: unknown) => log.error({ err: loggable(error) }, 'the worker takes no more tickets'));
      closings.push(async () => {
        // Without Redis, close() would never resolve, because it reports finished tickets first.
        await Promise.race([worker.close(true), sleep(redisMs, undefined, { ref: false })]);
        connection.disconnect();
      });
      return {
        /** Stops taking tickets, except one that a connection may already be waiting for. */
        pause: () => void worker.pause(true),
        resume: () => void worker.resume(),
        /** Stops taking tickets; resolves when the running ones are done and reported to Redis. */
        close: () => worker.close(),
      };
    },
    /** Adds or renews an open call for `ms` milliseconds. */
    async keepOpen({ id, instance, caller }: OpenCallKey, ms: number): Promise<OpenCallCounts> {
      const sets = setsOf(instance, caller);
      const [calls = 0, ofCaller = 0, callers = 0] = await evaluate(keepOpenScript, sets, id, caller, ms);
      return { calls, ofCaller, callers };
    },
    async release({ id, instance, caller }: OpenCallKey) {
      await evaluate(releaseScript, setsOf(instance, caller), id, caller);
    },
    /** Counters of the API key limits. */
    counters: createKeyCounters({ client, prefix, ask, evaluate }),
    /** Opens the store of the client secrets. */
    openSecrets: createRedisSecrets({ client, prefix, ask, evaluate }),
    /** Counts the transcriptions of an instance in the whole fleet: all open ones, and those running on a worker. */
    async countCalls(instance: string, queue: string) {
      const [calls = ''] = setsOf(instance, '');
      const [open = 0, running = 0] = await evaluate(countScript, [calls, `${prefix}:${queue}:active`]);
      return { open, running };
    },
    /** Resolves with the properties of the server. Waits for the first connection attempt. */
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
    /** Announces a node for `ms` milliseconds. */
    async announce(id: string, text: string, ms: number) {
      await ask(() => Promise.all([client.sadd(indexKey, id), client.set(nodeKey(id), text, 'PX', ms)]));
    },
    async withdraw(id: string) {
      await ask(() => Promise.all([client.srem(indexKey, id), client.del(nodeKey(id))]));
    },
    /** Resolves with the announcements, by node id. */
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

/** KEYS: all open calls, open calls of the caller, all callers. Scores are expiry times by the clock of Redis. */
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

/** KEYS: all open calls, tickets taken by workers. */
const countScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
return { redis.call('ZCOUNT', KEYS[1], '(' .. now, '+inf'), redis.call('LLEN', KEYS[2]) }`;

const releaseScript = `
redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('ZREM', KEYS[2], ARGV[1])
if redis.call('EXISTS', KEYS[2]) == 0 then redis.call('ZREM', KEYS[3], ARGV[2]) end`;

/** Tickets with a priority wait in BullMQ's sorted set `prioritized`, in the order in which workers take them. */
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

/** Logs one line when Redis becomes unavailable and one when it is back, instead of one per connection attempt. */
function logOutages(client: IORedisPackage.Redis, log: Logger, onReady: () => void): void {
  let isAway = false;
  const logOutage = (facts: object, what: string) => {
    if (!isAway) log.error(facts, `${what}; retrying twice a second`);
    isAway = true;
  };
  client.on('error', (error) => logOutage({ err: loggable(error) }, 'Redis cannot be reached'));
  client.on('close', () => logOutage({}, 'Redis has closed the connection'));
  client.on('ready', () => {
    if (isAway) log.info({}, 'Redis is connected');
    isAway = false;
    onReady();
  });
}

/**
 * Removes the failed command from the error: its arguments may contain addresses of calls, or the password of Redis.
 */
function loggable(error: unknown): Error {
  const { name, message, code } = error as NodeJS.ErrnoException;
  return Object.assign(new Error(message), { name }, code !== undefined && { code });
}

/** Whether the error is a reply from Redis, which means that Redis is reachable. */
export function isReply(error: unknown): boolean {
  return error instanceof Error && error.name === 'ReplyError';
}

/** Loads from src/fleet/packages/ in a clone or an image, or from the surrounding node_modules in an npm install. */
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
