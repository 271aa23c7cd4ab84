/** Live sessions that send as much as they can: what others wait for a health check and an upload, and the memory. */
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { spawnService, type ChildService } from '../test/support/child-service.ts';
import { toneWav } from '../test/support/tone-model.ts';
import { startNode, type Child } from './support/children.ts';
import { median, percentile } from './support/measure.ts';
import { transcribe } from './support/service.ts';
import { megabytes, milliseconds, runBenchmarks, type Row } from './support/table.ts';

const sessions = 8;
const floodMs = 10_000;

export async function benchFloods(): Promise<Row[]> {
  return [
    ...(await beside('events', `${sessions} live sessions that send small events`)),
    ...(await beside('sound', `${sessions} live sessions that send appends of 3 MB`)),
    await fragments(),
  ];
}

const startService = () => spawnService({ env: { NODE_ENV: 'production', LOG_LEVEL: 'warn', PARLANCE_SANDBOX: '1' } });

function startFlood({ url }: ChildService, kind: string, count: number): Child {
  return startNode(join(import.meta.dirname, 'support/flood.ts'), url, kind, String(count));
}

const recording = new Blob([new Uint8Array(toneWav({ words: ['alpha'], rate: 16_000, tailSeconds: 31 }))]);

async function beside(kind: string, what: string): Promise<Row[]> {
  await using service = await startService();
  await uploads(service, 1_000); // loads all modules
  const alone = median(await uploads(service, floodMs / 2));
  await using flood = startFlood(service, kind, sessions);
  await flood.firstLine;
  await using watch = startNode(join(import.meta.dirname, 'support/watch.ts'), `${service.url}/healthz`);
  const flooded = median(await uploads(service, floodMs));
  process.kill(watch.pid, 'SIGTERM');
  const healthMs = percentile(JSON.parse(await watch.firstLine) as number[], 99);
  return [
    {
      what: `GET /healthz beside ${what}, p99`,
      measured: milliseconds(healthMs),
      against: '250 ms',
      ratio: healthMs / 250,
      goal: { atMost: 1 },
    },
    {
      what: '  an upload of 1 MB beside them',
      measured: milliseconds(flooded),
      against: `${milliseconds(alone)} alone`,
      ratio: flooded / alone,
      goal: { atMost: 1.5 },
    },
  ];
}

/** Uploads one after the other, and returns the milliseconds of each. */
async function uploads(service: ChildService, ms: number): Promise<number[]> {
  const times: number[] = [];
  for (const end = performance.now() + ms; performance.now() < end;) {
    const started = performance.now();
    const { status } = await transcribe(service, recording);
    if (status !== 200) throw new Error(`an upload was answered with ${status}`);
    times.push(performance.now() - started);
  }
  return times;
}

async function fragments(): Promise<Row> {
  await using service = await startService();
  await uploads(service, 1_000);
  const { now: idle } = service.memory();
  await using flood = startFlood(service, 'fragments', 4);
  await flood.firstLine;
  await wait(floodMs);
  const held = service.memory().peak - idle;
  return {
    what: 'memory that 4 live sessions take by fragments of one byte',
    measured: megabytes(held),
    against: `${megabytes(idle)} before`,
    ratio: held / idle,
    goal: { atMost: 64, value: held / 1e6, unit: 'MB' },
  };
}

if (import.meta.main) await runBenchmarks([benchFloods]);
