/** A client that disconnects cancels the request to the provider within 250 ms. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { openStream } from '../../chat/support/stream.ts';
import { createApi } from '../../support/http.ts';
import { startProvider, type Behavior } from '../../support/provider.ts';
import { startTestService } from '../../support/service.ts';
import { startStopwatch } from '../../support/stopwatch.ts';
import { chunk, key, stallsAfter } from './support.ts';

const limitMs = 250;
const question = { messages: [{ role: 'user', content: 'What is the capital of France?' }] };

async function start(behavior: Behavior, models = 'models: [remote]') {
  const provider = await startProvider();
  provider.behave(behavior);
  const config = `engines: { cloud: { use: llm-agent, baseUrl: "${provider.baseUrl}", apiKey: "${key}", ${models} } }`;
  const service = await startTestService({ config });
  onTestFinished(() => service[Symbol.asyncDispose]());
  return { provider, service, api: createApi(service.url) };
}

describe('a caller that leaves ends the provider’s call', () => {
  test('of a plain answer', async () => {
    const caller = new AbortController();
    let goneAfterMs: Promise<number> | undefined;
    const { service } = await start(async (call) => {
      await stallsAfter(chunk({ content: 'Pa' }))(call);
      const sinceLeft = startStopwatch();
      goneAfterMs = call.gone.then(sinceLeft);
      caller.abort();
    });
    await expect(service.post('/chat', question, { signal: caller.signal })).rejects.toThrow();
    expect(await goneAfterMs).toBeLessThan(limitMs);
    await expect.poll(() => service.log.find(({ msg }) => msg === 'request')).toMatchObject({ status: 499 });
  });

  test('of a stream', async () => {
    const { service, provider } = await start(stallsAfter(chunk({ content: 'Pa' })));
    using stream = await openStream(service.url, question);
    await expect.poll(() => stream.events.length).toBe(3);
    const sinceLeft = startStopwatch();
    stream.close();
    await provider.calls[0]!.gone;
    expect(sinceLeft()).toBeLessThan(limitMs);
  });
});
