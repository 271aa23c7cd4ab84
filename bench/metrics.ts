/**
 * Processor time of a plain chat with metrics, compared with the same without metrics. Both services run in this
 * process: two processes of the same program differ by more than the metrics cost.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { startService, type Service } from '../src/service.ts';
import { loadSettings } from '../src/settings/load.ts';
import type { ChatLoad } from './support/chat-load.ts';
import { startChatProvider } from './support/chat-services.ts';
import { interleave, mean, median } from './support/measure.ts';
import type { BenchOptions } from './support/options.ts';
import { milliseconds, runBenchmarks, type Row } from './support/table.ts';

const tokens = 20;
const concurrent = 16;
const requests = 500;
/** Rounds until V8 has optimized the code. */
const warmUp = 10;
/** Many short rounds, so that the load of the machine affects both alike. */
const repeats = 6;

export async function benchMetrics({ rounds }: BenchOptions): Promise<Row[]> {
  await using provider = await startChatProvider(tokens, 0);
  const directory = await mkdtemp(join(tmpdir(), 'parlance-bench-'));
  const engines = `engines: { fake: { use: llm-agent, baseUrl: "${provider.baseUrl}", models: [fake] } }`;
  await writeFile(join(directory, 'parlance.config.yaml'), engines);
  const start = (more: object) => {
    const env = { NODE_ENV: 'production', PORT: '0', DATA_DIR: join(directory, 'data'), ...more };
    return startService({ settings: loadSettings(env, directory), env, log: pino({ level: 'silent' }) });
  };
  const [off, on] = [await start({}), await start({ METRICS_PORT: '0' })];
  const child = fork(join(import.meta.dirname, 'support/chat-load.ts'));
  const measure = (service: Service) => async () => {
    const before = process.cpuUsage();
    child.send({ url: `${service.url}/api/v1/chat`, requests, concurrent } satisfies ChatLoad);
    await once(child, 'message');
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000 / requests;
  };
  const contestants = { off: measure(off), on: measure(on) };
  await interleave(contestants, warmUp);
  const costs = await interleave(contestants, repeats * rounds);
  child.disconnect();
  await Promise.all([off.stop(0), on.stop(0)]);
  await rm(directory, { recursive: true });
  const ratios = costs.on.map((cost, round) => cost / costs.off[round]!);
  const what = 'processor time of a plain chat with metrics, against without';
  const [measured, against] = [milliseconds(median(costs.on)), milliseconds(median(costs.off))];
  return [
    { what, measured, against, ratio: median(ratios), goal: { atMost: 1.03 } },
    { what: '  the means', ...meansOf(costs) },
  ];
}

function meansOf({ on, off }: Readonly<Record<'on' | 'off', readonly number[]>>): Omit<Row, 'what'> {
  return { measured: milliseconds(mean(on)), against: milliseconds(mean(off)), ratio: mean(on) / mean(off) };
}

if (import.meta.main) await runBenchmarks([benchMetrics]);
