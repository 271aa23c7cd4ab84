/**
 * The overhead of a fleet for a transcription, its scaling, and the time to notice a lost worker: `npm run bench --
 * fleet`.
 */
import { openRedisServer, type RedisServer } from '../test/support/redis.ts';
import { spawnService } from '../test/support/child-service.ts';
import {
  settingsOf,
  startFront,
  startWorker,
  transcribe,
  workerOf,
  type Script,
  type WorkerProcess,
} from '../test/fleet/support/fleet.ts';
import { interleave, median } from './support/measure.ts';
import type { BenchOptions } from './support/options.ts';
import { megabytes, milliseconds, runBenchmarks, type Row } from './support/table.ts';

type Front = Awaited<ReturnType<typeof startFront>>;

const production = { NODE_ENV: 'production', LOG_LEVEL: 'info' };
let said = 0;
const next = (script: Omit<Script, 'say'> = {}): Script => ({ say: `bench-${(said += 1)}`, ...script });

export async function benchFleet({ rounds }: BenchOptions): Promise<Row[]> {
  await using redis = await openRedisServer();
  const options = { url: redis.url, slots: 1, env: production };
  await using front = await startFront(options);
  const workers: WorkerProcess[] = [await startWorker(options)];
  try {
    const rows = [...(await latency(front, rounds)), await rate(front), ...(await noticing(front, workers, rounds))];
    const alone = await throughput(front, 1);
    for (const count of [2, 4]) {
      while (workers.length < count) workers.push(await startWorker(options));
      const ms = await throughput(front, count);
      const against = `${milliseconds(alone)} with 1`;
      rows.push({
        what: `24 x 500 ms, ${count} workers`,
        measured: milliseconds(ms),
        against,
        ratio: alone / ms,
        goal: { atLeast: 0.9 * count },
      });
    }
    rows.push(await afterKill(front, workers), await memory(front, workers, redis));
    return rows;
  } finally {
    await Promise.all(workers.map((worker) => worker[Symbol.asyncDispose]()));
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

async function answered(front: { readonly url: string }, script: Script): Promise<void> {
  const { status, body } = await transcribe(front, script);
  if (status !== 200) throw new Error(`status ${status}: ${JSON.stringify(body)}`);
}

/** The same engine, which does nothing, on this machine alone. */
async function latency(front: Front, rounds: number): Promise<Row[]> {
  const { config, files } = settingsOf({ url: '' });
  await using alone = await spawnService({ config, files, env: production });
  const rows: Row[] = [];
  for (const [size, padding] of [
    ['100 KB', 100_000],
    ['25 MB', 25_000_000],
  ] as const) {
    const { fleet, single } = await interleave(
      {
        fleet: () => timed(() => answered(front, next({ padding }))),
        single: () => timed(() => answered(alone, next({ padding }))),
      },
      rounds,
    );
    const [measured, against] = [median(fleet), median(single)];
    rows.push({
      what: `POST /transcribe, ${size}, engine does nothing`,
      measured: milliseconds(measured),
      against: `${milliseconds(against)} alone`,
      ratio: measured / against,
      goal: padding < 1_000_000 ? { atMost: 10, value: measured - against, unit: 'ms more' } : { atMost: 1.5 },
      note: 'A transcription in a fleet takes about 70 commands of Redis and 9 ms of processor time of the front and the worker (the rows below), and here all of them share two cores.',
    });
  }
  return rows;
}

async function rate(front: Front): Promise<Row> {
  const [count, atOnce] = [400, 8];
  let left = count;
  const ms = await timed(() =>
    Promise.all(
      Array.from({ length: atOnce }, async () => {
        while (left-- > 0) await answered(front, next());
      }),
    ),
  );
  const perSecond = (count * 1000) / ms;
  return { what: 'transcriptions of 1 KB, 8 at once', measured: `${perSecond.toFixed(0)}/s`, against: '', ratio: 1 };
}

/** Measured by the timestamps of the worker's log, in whole milliseconds. */
async function noticing(front: Front, workers: readonly WorkerProcess[], rounds: number): Promise<Row[]> {
  const delays: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const caller = new AbortController();
    const script = next({ ms: 60_000 });
    const left = transcribe(front, script, { signal: caller.signal }).catch(() => undefined);
    const worker = await workerOf(workers, script.say);
    const abortedAt = Date.now();
    caller.abort();
    await left;
    delays.push((await logged(worker, 'ended', script.say)) - abortedAt);
  }
  const worst = Math.max(...delays);
  return [
    {
      what: "caller's disconnect to worker's abort",
      measured: milliseconds(median(delays)),
      against: `worst ${milliseconds(worst)}`,
      ratio: 1,
      goal: { atMost: 250, value: worst, unit: 'ms' },
    },
  ];
}

async function logged(worker: WorkerProcess, msg: string, say: string): Promise<number> {
  for (;;) {
    const line = worker.log().find((one) => one.msg === msg && one.say === say);
    if (line) return Number(line.time);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

async function throughput(front: Front, workers: number): Promise<number> {
  await Promise.all(Array.from({ length: workers }, () => answered(front, next()))); // opens the connections
  return timed(() => Promise.all(Array.from({ length: 24 }, () => answered(front, next({ ms: 500 })))));
}

async function afterKill(front: Front, workers: WorkerProcess[]): Promise<Row> {
  const script = next({ ms: 300 });
  const answer = answered(front, script);
  const killed = await workerOf(workers, script.say);
  const at = Date.now();
  killed.kill('SIGKILL');
  workers.splice(workers.indexOf(killed), 1);
  const began = await logged(await workerOf(workers, script.say), 'began', script.say);
  await answer;
  await killed[Symbol.asyncDispose]();
  return {
    what: 'SIGKILL of a worker to begin at another',
    measured: milliseconds(began - at),
    against: '',
    ratio: 1,
    goal: { atMost: 1_000, value: began - at, unit: 'ms' },
  };
}

async function memory(front: Front, workers: readonly WorkerProcess[], redis: RedisServer): Promise<Row> {
  await Promise.all(Array.from({ length: 20 }, () => answered(front, next({ padding: 25_000_000 }))));
  const [, used] = /used_memory_peak:(\d+)/.exec(String(await redis.ask('INFO', 'memory'))) ?? [];
  const { peak } = front.memory();
  const [worker] = workers.map(({ peakMemory }) => peakMemory()).toSorted((a, b) => b - a);
  const against = `worker ${megabytes(worker ?? 0)}, Redis ${megabytes(Number(used))}`;
  return {
    what: '20 x 25 MB at once, peak of the front',
    measured: megabytes(peak),
    against,
    ratio: peak / (worker ?? 1),
    goal: { atMost: 250, value: peak / 1e6, unit: 'MB' },
  };
}

if (import.meta.main) await runBenchmarks([benchFleet]);
