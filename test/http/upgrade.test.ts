/** The WebSocket of `GET /v1/realtime`, up to what a session sees of it. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectRaw } from '../api/support/raw-socket.ts';
import { bearer, keysFile, tokenOf, type TestEntry } from '../keys/support/keys.ts';
import { createApi } from '../support/http.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { connect, refusal, socketUrl, upgradeHeaders, useSessions } from './support/sessions.ts';

const engines = { config: 'engines: { made-up: { use: sandbox } }\n' };

useSessions();
let service: TestService;
beforeAll(async () => {
  service = await startTestService(engines);
});
afterAll(() => service[Symbol.asyncDispose]());

describe('a request for the WebSocket', () => {
  it.each(['/v1/realtime', '/v1/realtime/?intent=transcription&model=whisper-1', '//v1//realtime//'])(
    '%s opens a session, and its messages come back',
    async (path) => {
      const { ws, next } = await connect(service, { path });
      ws.send('hello');
      ws.send(Buffer.from('sound'));
      ws.send('ok');
      expect([await next(), await next(), await next()]).toEqual(['hello', 'binary', 'ok']);
    },
  );

  it('answers with exactly the subprotocol realtime, with the request id, and without compression', async () => {
    const protocols = ['realtime', 'openai-insecure-api-key.sk-1', 'openai-agents-sdk.0.20.0'];
    const head = new Promise<Readonly<Record<string, unknown>>>((resolve, reject) => {
      connect(service, {
        protocols,
        perMessageDeflate: true,
        finishRequest: (request) => {
          request.on('upgrade', ({ headers }: { headers: Record<string, unknown> }) => resolve(headers));
          request.end();
        },
      }).catch(reject);
    });
    const { 'sec-websocket-protocol': protocol, 'sec-websocket-extensions': extensions, ...headers } = await head;
    expect(protocol).toBe('realtime');
    expect(extensions).toBeUndefined();
    expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('is opened as by a browser, which fails if the answer has a subprotocol that it has not asked for', async () => {
    const url = socketUrl(service);
    const socket = new WebSocket(url, ['realtime', 'openai-insecure-api-key.sk-1']);
    const message = new Promise((resolve, reject) => {
      socket.onmessage = ({ data }) => resolve(data);
      socket.onerror = () => reject(new Error('the WebSocket failed'));
    });
    socket.onopen = () => socket.send('hello');
    expect(await message).toBe('hello');
    socket.close();
  });

  it('gets the answers of HTTP for a foreign origin, an invalid handshake, an unknown query and an unknown path', async () => {
    expect((await refusal(service, { origin: 'https://evil.example' })).error.code).toBe('origin_not_allowed');
    expect((await refusal(service, { host: 'evil.example' })).status).toBe(403);
    expect((await refusal(service, { 'sec-websocket-key': 'short' })).error.code).toBe('malformed_request');
    expect((await refusal(service, { 'sec-websocket-version': '7' })).headers.get('sec-websocket-version')).toBe('13');
    expect((await refusal(service, {}, '/v1/realtime?intent=music')).status).toBe(400);
    expect((await refusal(service, {}, '/v1/v1/realtime')).error.message).toContain('already ends in /v1');
  });

  it('is an ordinary request without an upgrade, with another one, and at another path', async () => {
    const api = createApi(service.url);
    const plain = await api.get('/v1/realtime');
    expect([plain.status, plain.headers.get('upgrade'), plain.error.code]).toEqual([
      426,
      'websocket',
      'upgrade_required',
    ]);
    const h2c = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAMAAABkAAQAAP__' };
    expect((await api.get('/v1/models', h2c)).status).toBe(200);
    expect((await api.get('/v1/models', upgradeHeaders)).status).toBe(200);
    expect((await api.get('/v1/realtime', h2c)).status).toBe(426);
    expect((await api.send('POST', '/v1/realtime', { headers: upgradeHeaders })).status).toBe(405);
  });

  it('is refused after pipelined requests, which are answered', async () => {
    using connection = await connectRaw(service.url);
    const head = (path: string, headers: object) =>
      `GET ${path} HTTP/1.1\r\nhost: localhost\r\n${Object.entries(headers)
        .map(([name, value]) => `${name}: ${String(value)}\r\n`)
        .join('')}\r\n`;
    await connection.send(head('/v1/models', {}) + head('/v1/realtime', upgradeHeaders));
    expect((await connection.answer('GET', '/v1/models')).status).toBe(200);
    expect((await connection.answer('GET', '/v1/realtime')).error.code).toBe('malformed_request');
  });
});

const guarded = { ...engines, env: { API_KEYS_FILE: 'keys.yaml' } };
const withKeys = (...entries: readonly TestEntry[]) =>
  startTestService({ ...guarded, files: { 'keys.yaml': keysFile(...entries) } });

describe('with API keys', () => {
  it.each([
    ['a header', { headers: bearer(tokenOf('app')) }],
    ['a subprotocol', { protocols: ['realtime', `openai-insecure-api-key.${tokenOf('app')}`] }],
    [
      'a subprotocol, and a foreign origin',
      { protocols: ['realtime', `openai-insecure-api-key.${tokenOf('app')}`], origin: 'https://app.example' },
    ],
  ])('a session opens with the key as %s, which appears in no log line', async (_how, options) => {
    await using service = await withKeys({ name: 'app' });
    const { ws, closed } = await connect(service, options);
    ws.close(1000);
    await closed;
    await expect
      .poll(() => service.log.filter(({ msg }) => msg === 'request'))
      .toMatchObject([
        {
          operation: 'connectRealtime',
          method: 'GET',
          path: '/v1/realtime',
          status: 101,
          key: 'app',
          turns: 0,
          close: 1000,
        },
      ]);
    expect(JSON.stringify(service.log)).not.toContain(tokenOf('app'));
  });

  it('is refused without a key, with a wrong one, and with one that may neither chat nor transcribe', async () => {
    await using service = await withKeys({ name: 'app' }, { name: 'speech', operations: ['createSpeech'] });
    expect((await refusal(service)).error.code).toBe('invalid_api_key');
    const protocol = { 'sec-websocket-protocol': `realtime, openai-insecure-api-key.${tokenOf('absent')}` };
    expect((await refusal(service, protocol)).headers.get('www-authenticate')).toContain('invalid_token');
    const both = { 'sec-websocket-protocol': `realtime, openai-insecure-api-key.${tokenOf('app')}` };
    expect((await refusal(service, { ...both, ...bearer('wrong') })).error.code).toBe('invalid_api_key'); // the header wins
    expect((await refusal(service, bearer(tokenOf('speech')))).error.code).toBe('operation_not_allowed');
  });

  it('a session is one request and one place of its key until it has closed', async () => {
    await using service = await withKeys(
      { name: 'place', limits: { concurrentRequests: 1 } },
      { name: 'minute', limits: { requestsPerMinute: 1 } },
    );
    const place = { headers: bearer(tokenOf('place')) };
    const { ws, closed } = await connect(service, place);
    expect((await refusal(service, place.headers)).error.code).toBe('concurrency_limited');
    ws.close();
    await closed;
    await expect.poll(() => service.log.some(({ status }) => status === 101)).toBe(true);
    await connect(service, place);
    await connect(service, { headers: bearer(tokenOf('minute')) });
    expect((await refusal(service, bearer(tokenOf('minute')))).error.code).toBe('rate_limit_exceeded');
  });

  it('a session is closed with 1008 once its key has been removed; the others continue', async () => {
    await using service = await startTestService({
      ...guarded,
      files: { 'keys.yaml': keysFile({ name: 'app' }, { name: 'other' }) },
      socketCheckMs: 20,
    });
    const removed = await connect(service, { headers: bearer(tokenOf('app')) });
    const kept = await connect(service, { headers: bearer(tokenOf('other')) });
    await writeFile(join(service.dir, 'keys.yaml'), keysFile({ name: 'other' }));
    await service.service.reload();
    expect(await removed.closed).toBe(1008);
    kept.ws.send('still here');
    expect(await kept.next()).toBe('still here');
  });
});

describe('settings', () => {
  it('REALTIME=off refuses every request for it', async () => {
    await using off = await startTestService({ ...engines, env: { REALTIME: 'off' } });
    expect((await refusal(off)).error.code).toBe('transcription_disabled');
    expect((await createApi(off.url).get('/v1/realtime')).status).toBe(503);
  });

  it('REALTIME_SESSIONS limits the open sessions, and refused requests take no place', async () => {
    await using service = await startTestService({ ...engines, env: { REALTIME_SESSIONS: '2' } });
    const [first] = await Promise.all([connect(service), connect(service)]);
    for (let i = 0; i < 3; i += 1) {
      const { error, headers, status } = await refusal(service);
      expect([status, error.code, headers.get('retry-after')]).toEqual([503, 'overloaded', '60']);
    }
    first.ws.close();
    await first.closed;
    await expect.poll(() => service.log.some((line) => line.status === 101)).toBe(true);
    await connect(service);
  });
});
