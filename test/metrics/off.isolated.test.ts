/** Without METRICS_PORT: prom-client is not even loaded. */
import { createRequire } from 'node:module';
import { expect, it } from 'vitest';
import { startTestService } from '../support/service.ts';

const isLoaded = () => Object.keys(createRequire(import.meta.url).cache).some((path) => path.includes('/prom-client/'));

it('loads prom-client only where metrics are on', async () => {
  const off = await startTestService({ env: { PARLANCE_SANDBOX: '1' } });
  const answer = await off.post('/chat', { messages: [{ role: 'user', content: 'hello' }] });
  expect(answer.status).toBe(200);
  expect(off.service.metricsUrl).toBeUndefined();
  await off[Symbol.asyncDispose]();
  expect(isLoaded()).toBe(false);

  await using _on = await startTestService({ env: { PARLANCE_SANDBOX: '1', METRICS_PORT: '0' } });
  expect(isLoaded()).toBe(true);
});
