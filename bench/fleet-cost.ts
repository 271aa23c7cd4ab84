/**
 * The cost of a fleet, in numbers that are also valid on a busy machine: commands and bytes counted by Redis, and
 * processor time. The calculation for 100 workers in docs/more-than-one-machine.md uses them: `npm run bench --
 * fleetCost`.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { startFront, startWorker, transcribe, type Script } from '../test/fleet/support/fleet.ts';
import { openRedisServer, type RedisServer } from '../test/support/redis.ts';
import { processorMsOf } from './support/measure.ts';
import type { Row } from './support/table.ts';

const env = { NODE_ENV: 'production', LOG_LEVEL: 'info' };
const idleMs = 30_000; // every interval of BullMQ and of the fleet at least once
let said = 0;

export async function benchFleetCost(): Promise<Row[]> {
  await using redis = await openRedisServer();
  const options = { url: redis.url, slots: 4, env };
  const connections = async () => Number((await statsOf(redis, 'clients')).connected_clients) - 1; // ours
  await using front = await startFront(options);
  const ofFront = await connections();
  await using worker = await startWorker(options);
  await answered(1, 1_000); // loads modules and opens connections
  const ofWorker = (await connections()) - ofFront;

  const withOne = await idle(redis);
  const rows: Row[] = [
    row('connections to Redis, a front and a worker', `${ofFront} and ${ofWorker}`),
    row('Redis, a front and a worker that are idle', perSecond(withOne)),
  ];
  {
    await using other = await startWorker(options);
    const withTwo = await idle(redis);
    rows.push(row('Redis, each further worker that is idle', perSecond(difference(withTwo, withOne))));
    other.kill('SIGTERM');
    await other.exit;
  }

  for (const [size, padding, count] of [
    ['1 KB', 1_000, 300],
    ['25 MB', 25_000_000, 10],
  ] as const) {
    const started = performance.now();
    const before = { ...(await costOf(redis)), front: processorMsOf(front.pid), worker: processorMsOf(worker.pid) };
    await answered(count, padding);
    const after = { ...(await costOf(redis)), front: processorMsOf(front.pid), worker: processorMsOf(worker.pid) };
    const idled = scale(withOne, (performance.now() - started) / 1000);
    const redisCost = scale(difference(difference(after, before), idled), 1 / count);
    const [ofFront, ofWorker] = [(after.front - before.front) / count, (after.worker - before.worker) / count];
    rows.push(
      row(
        `a transcription of ${size}: Redis`,
        `${redisCost.commands.toFixed(0)} commands`,
        `${redisCost.bytes.toFixed(0)} bytes, ${redisCost.processorMs.toFixed(2)} ms`,
      ),
      row(
        `a transcription of ${size}: processor of the front`,
        `${ofFront.toFixed(1)} ms`,
        `worker ${ofWorker.toFixed(1)} ms`,
      ),
    );
  }

  rows.push(await waiting());
  return rows;

  async function answered(count: number, padding: number): Promise<void> {
    let left = count;
    const one = async () => {
      while (left-- > 0) {
        const { status } = await transcribe(front, { say: `cost ${(said += 1)}`, padding });
        if (status !== 200) throw new Error(`status ${status}`);
      }
    };
    await Promise.all([one(), one(), one(), one()]);
  }

  /** 4 running calls and 60 that wait. */
  async function waiting(): Promise<Row> {
    const callers = new AbortController();
    const empty = Number((await statsOf(redis, 'memory')).used_memory);
    const script = (): Script => ({ say: `waits ${(said += 1)}`, ms: 3_600_000 });
    const left = Array.from({ length: 64 }, () => transcribe(front, script(), callers).catch(() => undefined));
    await sleep(3_000);
    const full = Number((await statsOf(redis, 'memory')).used_memory);
    const cost = scale(difference(await idle(redis), withOne), 1 / 64);
    callers.abort();
    await Promise.all(left);
    return row(
      'Redis, each open transcription (60 of 64 wait)',
      perSecond(cost),
      `${((full - empty) / 64).toFixed(0)} bytes of memory`,
    );
  }
}

interface Cost {
  readonly commands: number;
  readonly bytes: number;
  readonly processorMs: number;
}

/** Counts since the start of Redis, including commands within scripts. */
async function costOf(redis: RedisServer): Promise<Cost> {
  const {
    total_commands_processed: commands,
    total_net_input_bytes: read,
    total_net_output_bytes: written,
  } = await statsOf(redis, 'stats');
  const { used_cpu_user: user, used_cpu_sys: system } = await statsOf(redis, 'cpu');
  return {
    commands: Number(commands),
    bytes: Number(read) + Number(written),
    processorMs: (Number(user) + Number(system)) * 1000,
  };
}

async function statsOf(redis: RedisServer, section: string): Promise<Record<string, string>> {
  const lines = String(await redis.ask('INFO', section)).matchAll(/^(\w+):(.*?)\r?$/gm);
  return Object.fromEntries([...lines].map(([, name = '', value = '']) => [name, value] as const));
}

/** Counts per second while the fleet is idle. */
async function idle(redis: RedisServer): Promise<Cost> {
  const before = await costOf(redis);
  await sleep(idleMs);
  return scale(difference(await costOf(redis), before), 1000 / idleMs);
}

const difference = (one: Cost, other: Cost): Cost => ({
  commands: one.commands - other.commands,
  bytes: one.bytes - other.bytes,
  processorMs: one.processorMs - other.processorMs,
});

const scale = ({ commands, bytes, processorMs }: Cost, by: number): Cost => ({
  commands: commands * by,
  bytes: bytes * by,
  processorMs: processorMs * by,
});

const perSecond = ({ commands, bytes, processorMs }: Cost): string =>
  `${commands.toFixed(1)} commands/s, ${bytes.toFixed(0)} bytes/s, ${processorMs.toFixed(2)} ms/s`;

const row = (what: string, measured: string, against = ''): Row => ({ what, measured, against, ratio: 1 });
