/** The HTTP client of the whole service: proxies, and what `context.fetch` accepts. */
import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createHttpClient } from '../../lib/http-client.ts';
import { download } from '../../src/engine-host/assets/download.ts';
import { readStream, openStream } from '../chat/support/stream.ts';
import { startChildService } from '../support/child-service.ts';
import { createApi } from '../support/http.ts';
import { answers, readForm, startProvider, type Behavior, type RawProvider } from '../support/provider.ts';
import { certificate, startProxy, startTls } from '../support/proxy.ts';
import { startTestService } from '../support/service.ts';
import { startStopwatch } from '../support/stopwatch.ts';
import { toneWav } from '../support/tone-model.ts';
import { chunk, says, stallsAfter } from '../engines/llm-agent/support.ts';
import { good, recordingLog, serve, temporaryDirectory } from '../engines/whisper-cli/support.ts';
import { noise } from '../support/noise.ts';

const limitMs = 2_500;
const question = { messages: [{ role: 'user', content: 'What is the capital of France?' }] };

const trusted = getCACertificates();
beforeAll(() => setDefaultCACertificates([...trusted, certificate]));
afterAll(() => setDefaultCACertificates(trusted));

const portOf = (url: string) => Number(new URL(url).port);

/** Disposed at the end of the test. */
function open(env: Readonly<Record<string, string>> = {}) {
  const client = createHttpClient(env);
  onTestFinished(() => client[Symbol.asyncDispose]());
  return client;
}

/** A host name that only the proxy can resolve, for both schemes. */
const ways = [
  { scheme: 'http', line: /^POST http:\/\/provider\.test\/v1\// },
  { scheme: 'https', line: /^CONNECT provider\.test:443$/ },
] as const;
type Scheme = (typeof ways)[number]['scheme'];

async function proxyFor(provider: RawProvider, scheme: Scheme) {
  const port = portOf(provider.baseUrl);
  const proxy = await startProxy(scheme === 'https' ? await startTls(port) : port);
  return { proxy, env: { [scheme === 'https' ? 'HTTPS_PROXY' : 'HTTP_PROXY']: proxy.url } };
}

async function startChat(behavior: Behavior, scheme: Scheme, change: (url: string) => string = (url) => url) {
  const provider = await startProvider();
  provider.behave(behavior);
  const { proxy, env } = await proxyFor(provider, scheme);
  const config = `engines: { cloud: { use: llm-agent, baseUrl: "${scheme}://provider.test/v1", models: [remote] } }`;
  const service = await startTestService({
    config,
    env: Object.fromEntries(Object.entries(env).map(([name, url]) => [name, change(url)])),
  });
  onTestFinished(() => service[Symbol.asyncDispose]());
  return { provider, proxy, service, api: createApi(service.url) };
}

describe.each(ways)('through a proxy, by $scheme', ({ scheme, line }) => {
  test('a chat works, and the next request reuses the connection', async () => {
    const { proxy, provider, service, api } = await startChat(says('Paris.'), scheme);
    expect((await api.post('/api/v1/chat', question)).body).toMatchObject({ content: 'Paris.' });
    expect(proxy.requests[0]?.line).toMatch(line);
    const { events } = await readStream(service.url, question);
    expect(events.at(-1)).toMatchObject({ type: 'chat.completed', result: { content: 'Paris.' } });
    if (scheme === 'https') expect(proxy.requests).toHaveLength(1);
    expect(provider.calls[0]?.headers).not.toHaveProperty('proxy-authorization');
    expect(provider.calls[0]?.headers.host).toBe('provider.test');
  });

  test('a stream is passed through, and a disconnect ends it upstream', async () => {
    let gone: Promise<number> | undefined;
    const { service } = await startChat(async (call) => {
      gone = call.gone;
      await stallsAfter(chunk({ content: 'Pa' }))(call);
    }, scheme);
    using stream = await openStream(service.url, question);
    await expect.poll(() => stream.events.at(-1)).toMatchObject({ type: 'content.delta', delta: 'Pa' });
    const sinceLeft = startStopwatch();
    stream.close();
    await gone;
    expect(sinceLeft()).toBeLessThan(limitMs);
  });

  test('a recording is uploaded', async () => {
    const provider = await startProvider();
    provider.behave(answers(200, { text: 'alpha bravo', language: 'german', duration: 1.5 }));
    const { proxy, env } = await proxyFor(provider, scheme);
    const config = `engines: { cloud: { use: hosted-stt, baseUrl: "${scheme}://provider.test/v1", models: [remote] } }`;
    await using service = await startTestService({ config, env });
    const recording = toneWav({ words: ['alpha', 'bravo'], rate: 16_000 });
    const body = new FormData();
    body.set('file', new File([new Uint8Array(recording)], 'recording'));
    const answer = await createApi(service.url).send('POST', '/api/v1/transcribe', { body });
    expect(answer.body).toMatchObject({ text: 'alpha bravo' });
    expect(proxy.requests[0]?.line).toMatch(line);
    const [call] = provider.calls;
    expect((await readForm(call!)).file?.content.equals(recording)).toBe(true);
  });

  test('a file is downloaded', async () => {
    const content = noise(3 * 2 ** 20);
    const server = await serve(good(content));
    const port = portOf(server.url);
    const proxy = await startProxy(scheme === 'https' ? await startTls(port) : port);
    const { fetch } = open({ [`${scheme}_proxy`]: proxy.url });
    const to = join(await temporaryDirectory(), 'model.bin');
    await download({
      ...{ url: `${scheme}://provider.test/model.bin`, to, digest: hash('sha1', content), maxBytes: content.length },
      ...{ fetch, signal: new AbortController().signal, progress: () => {}, log: recordingLog() },
    });
    expect(content.equals(await readFile(to))).toBe(true);
    expect(proxy.requests).toHaveLength(1);
  });

  test('credentials are sent to the proxy only, and appear in no response and no log', async () => {
    const withPassword = (url: string) => url.replace('//', '//the-user:hush%40hush@');
    const { proxy, provider, service, api } = await startChat(says('Paris.'), scheme, withPassword);
    const basic = Buffer.from('the-user:hush@hush').toString('base64');
    expect((await api.post('/api/v1/chat', question)).status).toBe(200);
    expect(proxy.requests[0]?.authorization).toBe(`Basic ${basic}`);
    expect(JSON.stringify(provider.calls.map(({ headers }) => headers))).not.toContain(basic);
    proxy.refuse(407, `no ${'x'.repeat(10_000)}`);
    await service.service.stop(0);
    await using other = await startTestService({
      config: `engines: { cloud: { use: llm-agent, baseUrl: "${scheme}://provider.test/v1", models: [remote] } }`,
      env: { [`${scheme.toUpperCase()}_PROXY`]: withPassword(proxy.url) },
    });
    const refused = await createApi(other.url).post('/api/v1/chat', question);
    expect({ status: refused.status, code: refused.problem.code }).toEqual({
      status: 502,
      code: 'provider-unreachable',
    });
    const log = JSON.stringify(other.log);
    expect(log).toContain('407');
    for (const text of [refused.text, log, JSON.stringify(service.log)]) {
      for (const secret of ['hush', basic]) expect(text).not.toContain(secret);
    }
  });
});

describe('which requests go through a proxy', () => {
  async function linesFor(
    target: (port: number) => string,
    env: (proxy: string) => Readonly<Record<string, string>>,
  ): Promise<readonly string[]> {
    const { url } = await serve((_request, response) => void response.end('here'));
    const proxy = await startProxy(portOf(url));
    const { fetch } = open(env(proxy.url));
    expect(await (await fetch(target(portOf(url)))).text()).toBe('here');
    return proxy.requests.map(({ line }) => line);
  }
  /** Linux treats it as loopback, we do not. */
  const elsewhere = (port: number) => `http://0.0.0.0:${port}/`;

  test.each([
    ['HTTP_PROXY', (proxy: string) => ({ HTTP_PROXY: proxy })],
    ['http_proxy, which wins', (proxy: string) => ({ http_proxy: proxy, HTTP_PROXY: 'http://127.0.0.1:1' })],
    ['HTTP_PROXY without a scheme', (proxy: string) => ({ HTTP_PROXY: proxy.replace('http://', '') })],
    ['NO_PROXY with other hosts', (proxy: string) => ({ HTTP_PROXY: proxy, NO_PROXY: 'example.com, 0.0.0.0:1' })],
  ])('%s: is proxied', async (_what, env) => {
    const [line, ...more] = await linesFor(elsewhere, env);
    expect(line).toMatch(/^GET http:\/\/0\.0\.0\.0:\d+\/$/);
    expect(more).toEqual([]);
  });

  test.each<[string, (port: number) => string, Readonly<Record<string, string>>]>([
    ['a host of NO_PROXY', elsewhere, { NO_PROXY: 'example.com, 0.0.0.0' }],
    ['a host of no_proxy', elsewhere, { no_proxy: '0.0.0.0' }],
    ['every host, with NO_PROXY=*', elsewhere, { NO_PROXY: '*' }],
    ['127.0.0.1', (port) => `http://127.0.0.1:${port}/`, {}],
    ['localhost', (port) => `http://localhost:${port}/`, {}],
  ])('%s is requested directly', async (_what, target, more) => {
    expect(await linesFor(target, (proxy) => ({ HTTP_PROXY: proxy, HTTPS_PROXY: proxy, ...more }))).toEqual([]);
  });

  test('HTTPS_PROXY does not apply to http, and an empty variable counts as unset', async () => {
    expect(await linesFor(elsewhere, (proxy) => ({ HTTPS_PROXY: proxy, HTTP_PROXY: '' }))).toEqual([]);
  });

  test("the proxy variables come from the service's environment, not from process.env", async () => {
    vi.stubEnv('HTTP_PROXY', 'http://127.0.0.1:1');
    vi.stubEnv('http_proxy', 'http://127.0.0.1:1');
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(await linesFor(elsewhere, () => ({}))).toEqual([]);
    expect(await linesFor(elsewhere, (proxy) => ({ HTTPS_PROXY: proxy }))).toEqual([]);
  });
});

describe('context.fetch', () => {
  test("accepts Node's own FormData and Request", async () => {
    const provider = await startProvider();
    provider.behave(answers(200, 'fine'));
    const { fetch } = open();
    const body = new FormData();
    body.append('word', 'hello');
    body.append('file', new File(['sound'], 'a.wav', { type: 'audio/wav' }));
    await fetch(`${provider.baseUrl}/form`, { method: 'POST', body });
    const parts = await readForm(provider.calls[0]!);
    expect(parts.word?.content.toString()).toBe('hello');
    expect(parts.file?.head).toContain('filename="a.wav"');
    expect(parts.file?.content.toString()).toBe('sound');
    const request = new Request(`${provider.baseUrl}/request`, { method: 'PUT', headers: { 'x-team': 'voice' } });
    expect(await (await fetch(request)).text()).toBe('fine');
    expect(provider.calls[1]).toMatchObject({ method: 'PUT', path: '/v1/request', headers: { 'x-team': 'voice' } });
  });

  test('does not send the API key to another origin after a redirect', async () => {
    const other = await serve((_request, response) => void response.end('there'));
    const { url, requests } = await serve(
      (_request, response) => void response.writeHead(307, { location: other.url }).end(),
    );
    const { fetch } = open();
    const headers = { authorization: 'Bearer hush-hush' };
    expect(await (await fetch(url, { headers })).text()).toBe('there');
    expect(requests[0]?.headers).toMatchObject(headers);
    expect(other.requests[0]?.headers).not.toHaveProperty('authorization');
  });

  test('survives a server that closes while its reader is paused (nodejs/undici#5360)', async () => {
    const size = 65_536;
    let waiting = () => {};
    const closed = new Promise<void>((resolve) => (waiting = resolve));
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', (head) => {
        if (head.toString('latin1').startsWith('GET /go')) {
          void closed.then(() => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'));
          return;
        }
        socket.once('close', waiting);
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${size}\r\nConnection: close\r\n\r\n`);
        socket.end(Buffer.alloc(size, 'a'));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const service = await startChildService({
      config: 'engines: { slow: { use: ./slow.mjs } }',
      files: {
        'slow.mjs': `export default {
          contract: 1, name: 'slow', capability: 'chat', options: { type: 'object' },
          create: (_options, { fetch }) => ({
            models: [{ id: 'slow', local: true }],
            async *complete() {
              yield { type: 'step-started', step: 0 };
              const answer = await fetch('${url}/body');
              await fetch('${url}/go'); // answers once the other connection is closed
              const content = String((await answer.arrayBuffer()).byteLength);
              yield { type: 'content-delta', step: 0, delta: content };
              yield { type: 'completed', result: { content, finishReason: 'stop', reasoning: null, usage: null } };
            },
          }),
        };`,
      },
    });
    const { body } = await createApi(service.url).post('/api/v1/chat', question);
    expect(body).toMatchObject({ content: String(size) });
  });
});
