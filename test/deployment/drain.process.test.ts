/** SIGTERM with DRAIN_DELAY, to the service as `npm start` runs it: not ready, still serving, then refusing, then gone. */
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { createApi } from '../support/http.ts';
import { startByNpm } from './started-by-npm.ts';

vi.setConfig({ testTimeout: 120_000 });

const home = join(import.meta.dirname, '../..');

test('a drain serves new requests until its delay is over, and delivers what is in flight', async () => {
  const env = { PATH: process.env.PATH, PARLANCE_SANDBOX: '1', DRAIN_DELAY: '10', SHUTDOWN_GRACE: '60' };
  const { npm, url, exit } = await startByNpm(home, env);
  const api = createApi(url);
  const isReady = async () => (await api.get('/readyz')).status === 200;
  expect(await isReady()).toBe(true);

  npm.kill('SIGTERM');
  await expect.poll(isReady, { interval: 5 }).toBe(false); // after 50 ms on an idle machine
  expect((await api.get('/healthz')).status).toBe(200);

  // Begins after the signal and, with half a second for each word, ends after the delay.
  const slow = { model: 'sandbox-chat-slow', messages: [{ role: 'user', content: 'word '.repeat(20) }] };
  const stream = await fetch(`${url}/api/v1/chat/stream`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(slow),
  });
  expect(stream.status).toBe(200);
  const text = stream.text();
  const isRefused = () => fetch(`${url}/healthz`).then(() => false, () => true); // prettier-ignore
  await expect.poll(isRefused, { timeout: 60_000 }).toBe(true);
  expect(await text).toContain('event: chat.completed');
  expect(await exit).toEqual([0, null]);
});

test('SHUTDOWN_GRACE ends what is in flight', async () => {
  const env = { PATH: process.env.PATH, PARLANCE_SANDBOX: '1', SHUTDOWN_GRACE: '0' };
  const { npm, url, exit } = await startByNpm(home, env);
  const stream = await fetch(`${url}/api/v1/chat/stream`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'sandbox-chat-slow',
      messages: [{ role: 'user', content: 'word '.repeat(20) }],
    }),
  });
  npm.kill('SIGTERM');
  expect(await stream.text()).toMatch(/event: chat\.failed\n[^]*"code":"shutting-down"/);
  expect(await exit).toEqual([0, null]);
});
