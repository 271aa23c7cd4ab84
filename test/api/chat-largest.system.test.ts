/** Many of the largest valid chats at once do not sink a service with little memory. */
import { expect, it, vi } from 'vitest';
import { startChildService } from '../support/child-service.ts';
import { createApi } from '../support/http.ts';
import { encodings, json, largestChat, path, tenAtOnce, withoutEngines } from './support/largest-chat.ts';

vi.setConfig({ testTimeout: 120_000 }); // hundreds of megabytes, however busy the machine is

it('a service with a heap of 512 MB survives ten of the largest chats at once', async () => {
  const service = await startChildService({ ...withoutEngines, nodeOptions: ['--max-old-space-size=512'] });
  const api = createApi(service.url);
  for (const { encode } of encodings) {
    const body = encode(largestChat());
    expect(await tenAtOnce(api, body)).toContain('no-engine');
    expect((await api.get('/healthz')).status).toBe(200);
    // The ten have released their share of the budget for bodies.
    expect(await api.send('POST', path, { headers: json, body })).toMatchObject({ problem: { code: 'no-engine' } });
  }
  expect(service.memory().peak).toBeLessThan(600_000_000);
  service.kill('SIGTERM');
  expect(await service.exit).toEqual({ code: 0, signal: null });
  expect(service.said.stderr).not.toMatch(/heap|memory/i);
});
