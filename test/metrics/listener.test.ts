/** The listener of METRICS_PORT: what it serves, to whom, and until when. */
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { eventually } from '../api/support/eventually.ts';
import { createApi } from '../support/http.ts';
import { startTestService } from '../support/service.ts';
import { find, metricsUrl, readSeries, scrape } from './support.ts';

const env = { METRICS_PORT: '0', PARLANCE_SANDBOX: '1' };

const at = (url: string, path: string) => new URL(path, url).href;

/** As fetch, which sets no Host of the caller's. */
function get(url: string, { host, method = 'GET' }: { readonly host?: string; readonly method?: string } = {}) {
  return new Promise<{ status: number | undefined; allow: string | undefined; body: string }>((resolve, reject) => {
    const headers = host === undefined ? {} : { host };
    request(url, { method, headers, agent: false }, (answer) => {
      const { statusCode: status, headers: received } = answer;
      text(answer).then((body) => resolve({ status, allow: received.allow, body }), reject);
    })
      .once('error', reject)
      .end();
  });
}

describe('METRICS_PORT', () => {
  it('serves the metrics and both probes on a port of their own', async () => {
    await using service = await startTestService({ env });
    const url = metricsUrl(service);
    expect(new URL(url).port).not.toBe(new URL(service.url).port);
    const answer = await fetch(url);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(await answer.text()).toMatch(/^parlance_build_info\{version="[\d.]+",node="[\d.]+"\} 1$/m);
    expect(await (await fetch(at(url, '/healthz'))).json()).toEqual({ status: 'ok' });
    expect(await (await fetch(at(url, '/readyz'))).json()).toEqual({ status: 'ready' });
  });

  it('names each request and forbids sniffing, in failures too', async () => {
    await using service = await startTestService({ env });
    for (const path of ['/metrics', '/healthz', '/readyz', '/nothing']) {
      const { headers } = await fetch(at(metricsUrl(service), path));
      expect(headers.get('x-request-id')).toMatch(/^[\da-f-]{36}$/);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    }
    const failed = await fetch(at(metricsUrl(service), '/nothing'));
    expect(await failed.json()).toMatchObject({ instance: failed.headers.get('x-request-id') });
  });

  it('has process metrics of Node.js', async () => {
    await using service = await startTestService({ env });
    expect(await scrape(service)).toMatch(/^process_resident_memory_bytes \d+$/m);
    expect(await scrape(service)).toMatch(/^nodejs_version_info\{/m);
  });

  it('serves nothing else', async () => {
    await using service = await startTestService({ env });
    const url = metricsUrl(service);
    expect(await get(at(url, '/api/v1/models'))).toMatchObject({ status: 404 });
    expect(await get(url, { method: 'POST' })).toMatchObject({ status: 405, allow: 'GET, HEAD' });
    expect(await get(url, { method: 'HEAD' })).toMatchObject({ status: 200, body: '' });
  });

  it.each([{ METRICS_PORT: '0' }, {}])('is no path of the main port (%o)', async (more) => {
    await using service = await startTestService({ env: { PARLANCE_SANDBOX: '1', ...more } });
    expect((await createApi(service.url).get('/metrics')).status).toBe(404);
  });

  it('needs no key', async () => {
    await using service = await startTestService({ env: { ...env, API_KEYS: 'a-key-that-nobody-sends' } });
    expect((await fetch(metricsUrl(service))).status).toBe(200);
  });

  it('on loopback refuses metrics under a foreign name, which a web page could have (DNS rebinding)', async () => {
    await using service = await startTestService({ env });
    const url = metricsUrl(service);
    expect(await get(url, { host: 'evil.example:80' })).toMatchObject({ status: 403 });
    for (const host of ['localhost:1', '127.0.0.1', '[::1]:9', '10.0.0.7:9464']) {
      expect(await get(url, { host })).toMatchObject({ status: 200 });
    }
    expect(await get(at(url, '/readyz'), { host: 'evil.example' })).toMatchObject({ status: 200 });
  });

  it('stops the start and is named when the port is in use', async () => {
    await using service = await startTestService({ env });
    const { port } = new URL(metricsUrl(service));
    const second = startTestService({ env: { ...env, METRICS_PORT: port } });
    await expect(second).rejects.toMatchObject({
      name: 'SettingsError',
      message: expect.stringMatching(/^METRICS_PORT: .*EADDRINUSE.*; set METRICS_PORT to a free port/) as string,
    });
  });

  it('answers until the last request of the service has ended, with /readyz at 503', async () => {
    await using service = await startTestService({ env });
    const { url } = service;
    const slow = await service.post('/chat/stream', {
      model: 'sandbox-chat-slow',
      messages: [{ role: 'user', content: 'one two' }],
    });
    const stopped = service.service.stop(60_000);
    expect((await fetch(at(metricsUrl(service), '/readyz'))).status).toBe(503);
    await eventually(() => fetch(url).then(() => 'open', () => 'closed')).toBe('closed'); // prettier-ignore
    expect(find(await readSeries(service), 'http_server_active_requests', { http_request_method: 'POST' }).sum).toBe(1);
    expect(await slow.text()).toContain('chat.completed');
    await stopped;
    await expect(fetch(metricsUrl(service))).rejects.toThrow();
  });
});

describe('a scrape', () => {
  const source = `
export default {
  contract: 1,
  name: 'own',
  capability: 'transcription',
  options: { type: 'object', properties: {} },
  create(options, context) {
    const queue = context.queue({ slots: 1, waiting: 1 });
    return {
      models: [
        { id: 'one', local: true },
        { id: 'two', local: true, availability: { available: false, code: 'model-file-missing', reason: 'It is.' } },
      ],
      transcribe: (call, { signal }) => queue.run(async () => ({ text: '', language: null }), { signal }),
    };
  },
};
`;

  it('has the availability of each model', async () => {
    await using service = await startTestService({
      env: { METRICS_PORT: '0' },
      config: 'engines: { own: { use: ./own.mjs } }\n',
      files: { 'own.mjs': source },
    });
    const series = await readSeries(service);
    expect(series.get('parlance_engine_available{engine="own",model="one"}')).toBe(1);
    expect(series.get('parlance_engine_available{engine="own",model="two"}')).toBe(0);
  });
});
