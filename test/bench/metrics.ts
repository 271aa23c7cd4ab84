/** Processor time of a plain chat with metrics on, against the same with metrics off. */
import { Agent } from 'undici';
import { ask } from './chat.ts';
import { startChatProvider, startChatService, through } from './support/chat-services.ts';
import type { ChildService } from '../support/child-service.ts';
import { interleave, median, processorMsOf } from './support/measure.ts';
import type { BenchOptions } from './support/options.ts';
import { milliseconds, runBenchmarks, type Row } from './support/table.ts';

const tokens = 20;
const concurrent = 16;
/** Processor time is counted in hundredths of a second: enough requests for two percent of a round. */
const requests = 2_000;
/** Rounds until V8 has compiled what it will; with fewer, the first ones decide. */
const warmUp = 4;
/** As many as the other benchmarks have, several times: the difference is smaller than what a busy machine does to it. */
const repeats = 3;

export async function benchMetrics({ rounds }: BenchOptions): Promise<Row[]> {
  await using provider = await startChatProvider(tokens, 0);
  await using off = await startChatService(provider);
  await using on = await startChatService(provider, { METRICS_PORT: '0' });
  const agent = new Agent({ connections: concurrent });
  const measure = (service: ChildService) => async () => {
    const processor = () => processorMsOf(service.pid);
    const { processorMs } = await ask({ server: through(service), agent, concurrent, requests, processor });
    return processorMs / requests;
  };
  const contestants = { off: measure(off), on: measure(on) };
  await interleave(contestants, warmUp);
  const costs = await interleave(contestants, repeats * rounds);
  await agent.destroy();
  // Round by round: what else the machine does changes more slowly than that.
  const ratio = median(costs.on.map((cost, round) => cost / costs.off[round]!));
  return [
    {
      what: 'processor time of a plain chat with metrics, against without',
      measured: milliseconds(median(costs.on)),
      against: milliseconds(median(costs.off)),
      ratio,
      goal: '<= 1.03',
    },
  ];
}

if (import.meta.main) await runBenchmarks([benchMetrics]);
