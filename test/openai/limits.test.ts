/** What the SDK makes of the limits of an API key: it retries what passes within a minute, and no budget. */
import { expect, it, onTestFinished } from 'vitest';
import { tokenOf } from '../keys/support/keys.ts';
import { hello, hold, startLimited, type Keys } from '../limits/support.ts';
import { sdkOf } from './support/audio.ts';

async function start(keys: Keys) {
  const service = await startLimited(keys);
  onTestFinished(() => service[Symbol.asyncDispose]());
  /** The statuses that the SDK has seen. */
  const statuses: number[] = [];
  const answered = Promise.withResolvers<undefined>();
  const sdk = sdkOf(service, {
    apiKey: tokenOf('app'),
    maxRetries: 2,
    fetch: async (url: string, init?: RequestInit) => {
      const response = await fetch(url, init);
      if (url.startsWith('http')) {
        statuses.push(response.status);
        answered.resolve(undefined);
      }
      return response;
    },
  });
  const ask = (model: string) =>
    sdk.chat.completions.create({ model, messages: [{ role: 'user', content: 'Hello' }] }).asResponse();
  return { service, ask, statuses, answered: answered.promise };
}

it('a chat beyond concurrentRequests succeeds by an automatic retry', async () => {
  const { service, ask, statuses, answered } = await start({ app: { concurrentRequests: 1 } });
  const held = hold();
  const headers = { authorization: `Bearer ${tokenOf('app')}` };
  const first = service.post('/chat', hello('held'), { headers });
  await held.wait(1);
  const second = ask('fine');
  await answered;
  held.release();
  expect((await first).status).toBe(200);
  expect((await second).status).toBe(200);
  expect(statuses).toEqual([429, 200]);
});

it('a budget that is used up is reported at once', async () => {
  const { ask, statuses } = await start({ app: { tokensPerDay: 5 } });
  expect((await ask('fine')).status).toBe(200);
  await expect(ask('fine')).rejects.toMatchObject({ status: 429, code: 'insufficient_quota' });
  expect(statuses).toEqual([200, 429]);
});
