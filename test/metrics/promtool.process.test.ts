/** Prometheus' own tool reads the metrics and the alerts. */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { describeWith, run } from '../support/programs.ts';
import { startTestService } from '../support/service.ts';
import { scrape } from './support.ts';

const alerts = join(import.meta.dirname, '../../deploy/alerts.yaml');

describeWith(['promtool'], 'promtool', ({ promtool }) => {
  it('accepts the metrics of a used service', async () => {
    await using service = await startTestService({
      env: { PARLANCE_SANDBOX: '1', METRICS_PORT: '0', API_KEYS: 'a-key-of-this-service' },
    });
    const headers = { authorization: 'Bearer a-key-of-this-service' };
    const messages = [{ role: 'user', content: 'read aloud: hello' }];
    expect((await service.post('/chat/stream', { messages }, { headers })).status).toBe(200);
    expect((await service.post('/chat', { messages, model: 'a "quoted" \\ name\n' }, { headers })).status).toBe(422);
    const text = await scrape(service);
    expect(text).toMatch(/^parlance_key_requests_total\{/m);
    expect(await run(promtool, ['check', 'metrics'], { input: Buffer.from(text) })).toBe('');
  });

  it('accepts the rules of deploy/alerts.yaml', async () => {
    expect(await run(promtool, ['check', 'rules', alerts])).toContain('7 rules found');
  });

  it('sees each alert fire when it should', async () => {
    const tests = join(import.meta.dirname, 'alerts.test.yaml');
    expect(await run(promtool, ['test', 'rules', tests])).toContain('SUCCESS');
  });
});
