/**
 * Compares a plain chat through both APIs of the service with @portkey-ai/gateway and a bare proxy, in front of the
 * same provider.
 */
import { Agent } from 'undici';
import {
  directly,
  startBareProxy,
  startChatProvider,
  startChatService,
  startGateway,
  through,
  type ChatServer,
} from './support/chat-services.ts';
import { costOf, interleave, mean, median, processorMsOf } from './support/measure.ts';
import type { BenchOptions } from './support/options.ts';
import { milliseconds, runBenchmarks, type Row } from './support/table.ts';

const tokens = 20;
const concurrency = 32;
const requestsPerRound = 2_000;
const requestsAlone = 300;

const messages = [{ role: 'user', content: 'Say twenty words.' }];
/** The same conversation for /chat/completions and /responses. */
const body = JSON.stringify({ model: 'fake', messages, input: messages, store: false });

export async function benchChat({ rounds }: BenchOptions): Promise<Row[]> {
  await using provider = await startChatProvider(tokens, 0);
  await using service = await startChatService(provider);
  await using gateway = await startGateway(provider);
  await using proxy = await startBareProxy(provider);
  const agent = new Agent({ connections: concurrency });
  const contestants = {
    direct: directly(provider),
    ours: through(service),
    compatible: through(service, '/v1/chat/completions'),
    responses: through(service, '/v1/responses'),
    gateway,
    proxy,
  };
  const measure = (concurrent: number, requests: number) => (server: ChatServer) => async () =>
    ask({ server, agent, concurrent, requests, processor: () => processorMsOf(server.pid) });
  const crowd = await interleave(over(contestants, measure(concurrency, requestsPerRound)), rounds);
  const alone = await interleave(over(contestants, measure(1, requestsAlone)), rounds);
  await agent.destroy();

  const rate = (times: readonly Run[]) => median(times.map(({ seconds }) => requestsPerRound / seconds));
  const latency = (times: readonly Run[]) => median(times.flatMap(({ latencies }) => latencies));
  const cost = (times: readonly Run[]) => mean(times.map(({ processorMs }) => processorMs / requestsPerRound)); // in ticks
  const added = (name: 'ours' | 'gateway') => latency(alone[name]) - latency(alone.direct);
  const perSecond = (value: number) => `${value.toFixed(0)} /s`;
  return [
    {
      what: `plain chat, ${concurrency} callers, against @portkey-ai/gateway`,
      measured: perSecond(rate(crowd.ours)),
      against: perSecond(rate(crowd.gateway)),
      ratio: rate(crowd.ours) / rate(crowd.gateway),
      goal: { atLeast: 2.3 },
    },
    {
      what: '  the same through the OpenAI-compatible API',
      measured: perSecond(rate(crowd.compatible)),
      against: perSecond(rate(crowd.gateway)),
      ratio: rate(crowd.compatible) / rate(crowd.gateway),
      goal: { atLeast: 2 },
    },
    {
      what: '  processor time of a chat through that API, against the native one',
      measured: milliseconds(cost(crowd.compatible)),
      against: milliseconds(cost(crowd.ours)),
      ratio: cost(crowd.compatible) / cost(crowd.ours),
      goal: { atMost: 1.1 },
    },
    {
      what: '  processor time of a response through that API, against the native chat',
      measured: milliseconds(cost(crowd.responses)),
      against: milliseconds(cost(crowd.ours)),
      ratio: cost(crowd.responses) / cost(crowd.ours),
      goal: { atMost: 1.1 },
      note: 'The conversation is translated from the form of `/v1/responses`, and the answer back into it, which is the longer of the two. That takes a hundredth or two of a millisecond.',
    },
    {
      what: '  processor time of a chat, against a bare node:http and undici proxy that reads the same events',
      measured: milliseconds(cost(crowd.ours)),
      against: milliseconds(cost(crowd.proxy)),
      ratio: cost(crowd.ours) / cost(crowd.proxy),
      goal: { atMost: 1.5 },
    },
    {
      what: '  latency added to the provider’s, one caller',
      measured: milliseconds(added('ours')),
      against: milliseconds(added('gateway')),
      ratio: added('ours') / added('gateway'),
      goal: { atMost: 0.65 },
    },
  ];
}

type Contestants<T> = Record<'direct' | 'ours' | 'compatible' | 'responses' | 'gateway' | 'proxy', T>;

function over<T>(servers: Contestants<ChatServer>, make: (server: ChatServer) => T): Contestants<T> {
  const { direct, ours, compatible, responses, gateway, proxy } = servers;
  return {
    ...{ direct: make(direct), ours: make(ours), compatible: make(compatible), responses: make(responses) },
    ...{ gateway: make(gateway), proxy: make(proxy) },
  };
}

export interface Run {
  readonly seconds: number;
  /** CPU time of the server. */
  readonly processorMs: number;
  /** Milliseconds of each request. */
  readonly latencies: readonly number[];
}

interface Load {
  readonly server: ChatServer;
  readonly agent: Agent;
  readonly concurrent: number;
  readonly requests: number;
  /** Milliseconds of processor time that the server has used so far. */
  readonly processor: () => number;
}

export async function ask({ server, agent, concurrent, requests, processor }: Load): Promise<Run> {
  const latencies: number[] = [];
  let left = requests;
  const caller = async () => {
    while (left-- > 0) {
      const started = performance.now();
      const answer = await agent.request({ ...at(server.url), method: 'POST', headers: server.headers, body });
      const text = await answer.body.text();
      if (answer.statusCode !== 200 || !text.includes('word word')) throw new Error(`${answer.statusCode}: ${text}`);
      latencies.push(performance.now() - started);
    }
  };
  const { ms, processorMs } = await costOf(() => Promise.all(Array.from({ length: concurrent }, caller)), processor);
  return { seconds: ms / 1000, processorMs, latencies };
}

function at(url: string): { origin: string; path: string } {
  const { origin, pathname } = new URL(url);
  return { origin, path: pathname };
}

if (import.meta.main) await runBenchmarks([benchChat]);
