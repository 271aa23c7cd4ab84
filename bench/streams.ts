/** The cost of a live stream of a chat: 1,000 concurrent streams, each with a token every 200 ms. */
import { setTimeout as pause } from 'node:timers/promises';
import { Agent, type Dispatcher } from 'undici';
import { startChatProvider, startChatService, through } from './support/chat-services.ts';
import { processorMsOf } from './support/measure.ts';
import { runBenchmarks, type Row } from './support/table.ts';

const streams = 1_000;
const pauseMs = 200;
const watchedMs = 10_000;
/** Tokens per stream: enough that none ends during the measurement. */
const tokens = 600;

const body = JSON.stringify({ model: 'fake', messages: [{ role: 'user', content: 'Say many words.' }] });

export async function benchStreams(): Promise<Row[]> {
  await using provider = await startChatProvider(tokens, pauseMs);
  await using service = await startChatService(provider);
  const agent = new Agent();
  const { url, headers } = through(service, '/api/v1/chat/stream');
  const open = async () => {
    const { origin, pathname } = new URL(url);
    const answer = await agent.request({ origin, path: pathname, method: 'POST', headers, body });
    if (answer.statusCode !== 200) throw new Error(`a stream was answered with ${answer.statusCode}`);
    return answer.body;
  };
  (await open()).destroy(); // loads all modules
  const idle = service.memory().now;
  const seen = new Counter();
  const live = await Promise.all(Array.from({ length: streams }, open));
  for (const one of live) seen.count(one);
  await pause(2_000);
  const [startedMs, startedEvents, started] = [processorMsOf(service.pid), seen.events, performance.now()];
  await pause(watchedMs);
  const seconds = (performance.now() - started) / 1000;
  const cores = (processorMsOf(service.pid) - startedMs) / 1000 / seconds;
  const eventsPerSecond = (seen.events - startedEvents) / seconds;
  const memory = service.memory().now - idle;
  await agent.destroy();
  return [
    {
      what: `memory of each of ${streams} live streams`,
      measured: `${(memory / streams / 1024).toFixed(0)} KiB`,
      against: '250 KiB',
      ratio: memory / streams / 1024 / 250,
      goal: { atMost: 1 },
    },
    {
      what: `  their processor time, ${eventsPerSecond.toFixed(0)} events/s`,
      measured: `${cores.toFixed(2)} cores`,
      against: '1 core',
      ratio: cores,
      goal: { atMost: 1 },
    },
  ];
}

/** Counts the bytes and discards them. */
class Counter {
  events = 0;

  count(stream: Dispatcher.ResponseData['body']): void {
    stream.on('data', (chunk: Buffer) => {
      for (let at = chunk.indexOf('\n\n'); at !== -1; at = chunk.indexOf('\n\n', at + 2)) this.events++;
    });
    stream.on('error', () => undefined); // this script destroys the stream
  }
}

if (import.meta.main) await runBenchmarks([benchStreams]);
