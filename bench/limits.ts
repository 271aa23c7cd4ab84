/** The cost of the limits of an API key for a plain chat: one service, one provider, two keys. */
import { Agent } from 'undici';
import { bearer, keysFile, tokenOf } from '../test/keys/support/keys.ts';
import { ask, type Run } from './chat.ts';
import { startChatProvider, startChatService, through } from './support/chat-services.ts';
import { interleave, mean, processorMsOf } from './support/measure.ts';
import type { BenchOptions } from './support/options.ts';
import { milliseconds, runBenchmarks, type Row } from './support/table.ts';

const tokens = 20;
const concurrency = 32;
const requestsPerRound = 2_000;

/** All limits, none of which is ever reached. */
const limits = {
  requestsPerMinute: 1_000_000_000,
  concurrentRequests: 1_000,
  audioMinutesPerDay: 1_000_000,
  tokensPerDay: 1_000_000_000,
};

export async function benchLimits({ rounds }: BenchOptions): Promise<Row[]> {
  await using provider = await startChatProvider(tokens, 0);
  await using service = await startChatService(provider, {
    env: { API_KEYS_FILE: 'keys.json' },
    files: { 'keys.json': keysFile({ name: 'plain' }, { name: 'limited', limits }) },
  });
  const agent = new Agent({ connections: concurrency });
  const run = (key: string) => () => {
    const target = through(service);
    const server = { ...target, headers: { ...target.headers, ...bearer(tokenOf(key)) } };
    const load = { server, agent, concurrent: concurrency, requests: requestsPerRound };
    return ask({ ...load, processor: () => processorMsOf(service.pid) });
  };
  const runs = await interleave({ plain: run('plain'), limited: run('limited') }, rounds);
  await agent.destroy();
  const cost = (times: readonly Run[]) => mean(times.map(({ processorMs }) => processorMs / requestsPerRound));
  return [
    {
      what: 'processor time of a plain chat, for a key with Every limit against one without',
      measured: milliseconds(cost(runs.limited)),
      against: milliseconds(cost(runs.plain)),
      ratio: cost(runs.limited) / cost(runs.plain),
      goal: { atMost: 1.03 },
      note: 'Every limit is checked before a chat and charged after it. That takes about a hundredth of a millisecond, which is also the precision of this row.',
    },
  ];
}

if (import.meta.main) await runBenchmarks([benchLimits]);
