/** deploy/otel.mjs, as its comment says to use it, with a collector of the test's own. */
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { startChildService } from '../support/child-service.ts';
import { createApi } from '../support/http.ts';

vi.setConfig({ testTimeout: 120_000 });

/** Of OTLP's JSON. */
interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly status: { readonly code?: number };
  readonly attributes: readonly { readonly key: string; readonly value: object }[];
}

interface Export {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: OtlpSpan['attributes'] };
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}

async function startCollector(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const preload = join(import.meta.dirname, '../../deploy/otel.mjs');
const chat = { messages: [{ role: 'user', content: 'a private matter' }] };
const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;

function startTraced(endpoint: string, env: Readonly<Record<string, string>> = {}) {
  return startChildService({
    env: { PARLANCE_SANDBOX: '1', OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, ...env },
    nodeOptions: ['--import', preload],
  });
}

describe('the spans of the service', () => {
  it('arrive at a collector before the service exits, with the ids of the log and no text', async () => {
    const exports: Export[] = [];
    const endpoint = await startCollector((request, response) => {
      void json(request).then((sent) => {
        exports.push(sent as Export);
        response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
      });
    });
    const service = await startTraced(endpoint, { OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test' });
    const api = createApi(service.url);
    await api.post('/api/v1/chat', chat, { traceparent });
    const { headers } = await api.get('/api/v1/models');
    service.kill('SIGTERM');
    expect(await service.exit).toEqual({ code: 0, signal: null });

    const resources = exports.flatMap(({ resourceSpans }) => resourceSpans);
    expect(resources[0]?.resource.attributes).toEqual(
      expect.arrayContaining([
        { key: 'service.name', value: { stringValue: 'parlance' } },
        { key: 'deployment.environment.name', value: { stringValue: 'test' } },
      ]),
    );
    const spans = resources.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
    const lineOf = (path: string) => service.log().find((line) => line.path === path)!;
    const asked = spans.find(({ name }) => name === 'POST /api/v1/chat');
    expect(asked).toMatchObject({
      traceId,
      parentSpanId: '00f067aa0ba902b7',
      spanId: lineOf('/api/v1/chat').span_id,
      kind: 2,
    });
    const answered = spans.find(({ name }) => name.startsWith('chat '));
    expect(answered).toMatchObject({ traceId, parentSpanId: asked?.spanId, kind: 3 });
    expect(answered?.attributes.map(({ key }) => key)).toContain('gen_ai.usage.input_tokens');
    const listed = spans.find(({ name }) => name === 'GET /api/v1/models');
    const { trace_id, span_id } = lineOf('/api/v1/models');
    expect(listed).toMatchObject({ traceId: trace_id, spanId: span_id });
    expect(listed?.parentSpanId).toBeUndefined();
    expect(trace_id).toBe(headers.get('x-request-id')?.replaceAll('-', ''));
    expect(JSON.stringify(exports)).not.toContain('private');
  });

  it('are sampled as the caller has decided', async () => {
    const exports: unknown[] = [];
    const endpoint = await startCollector((request, response) => {
      exports.push(request.url);
      response.end('{}');
    });
    const service = await startTraced(endpoint);
    await createApi(service.url).post('/api/v1/chat', chat, { traceparent: traceparent.replace(/01$/, '00') });
    service.kill('SIGTERM');
    expect(await service.exit).toEqual({ code: 0, signal: null });
    expect(exports).toEqual([]);
  });

  it('do not hold the exit when the collector does not answer', async () => {
    const asked = Promise.withResolvers<unknown>();
    const endpoint = await startCollector(() => asked.resolve(true));
    const service = await startTraced(endpoint);
    await createApi(service.url).post('/api/v1/chat', chat);
    service.kill('SIGTERM');
    await asked.promise;
    expect(await service.exit).toEqual({ code: 0, signal: null });
  });
});
