/** What holds for the service as a whole: its documents, every answer's form, its log. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createApi, type Answer, type Api, type Call } from '../support/http.ts';
import { startTestService, type LogLine, type TestService } from '../support/service.ts';
import { broken, echo, lawless } from './support/engines.ts';
import { eventually } from './support/eventually.ts';
import { multipart, multipartType, recording } from './support/forms.ts';

vi.setConfig({ testTimeout: 120_000 }); // services in processes of their own, however busy the machine is

let service: TestService;
let api: Api;

beforeAll(async () => {
  service = await startTestService(echo);
  api = createApi(service.url);
});
afterAll(() => service[Symbol.asyncDispose]());

const form: Call = { headers: multipartType, body: multipart(recording) };
const transcribe = (at: Api) => at.send('POST', '/api/v1/transcribe', form);

const generated = (name: string) => readFileSync(new URL(`../../generated/${name}`, import.meta.url), 'utf8');

/** Some paths of the contract and all beside it, and the methods that each knows. */
const paths = [
  ['/api/v1/transcribe', 'GET, HEAD, POST'],
  ['/api/v1/chat', 'POST'],
  ['/api/v1/models', 'GET, HEAD'],
  ['/api/v1/tts/clips/Vb1yPz4mQ0iYxkq3o9TtWw', 'GET, HEAD, DELETE'],
  ['/healthz', 'GET, HEAD'],
  ['/readyz', 'GET, HEAD'],
  ['/openapi.json', 'GET, HEAD'],
  ['/openapi-3.2.json', 'GET, HEAD'],
  ['/', 'GET, HEAD'],
  ['/docs', 'GET, HEAD'],
  ['/openapi-compat.json', 'GET, HEAD'],
  ['/asyncapi-compat.json', 'GET, HEAD'],
] as const;

describe('beside the contract', () => {
  it('/healthz reports liveness', async () => {
    expect(await api.get('/healthz')).toMatchObject({ status: 200, body: { status: 'ok' } });
  });

  it.each([
    ['/openapi.json', 'openapi.json', '3.1'],
    ['/openapi-3.2.json', 'openapi-3.2.json', '3.2'],
    ['/openapi-compat.json', 'openapi-compat.json', '3.1'],
    ['/asyncapi-compat.json', 'asyncapi-compat.json', '3.0'],
  ])('%s is the generated document, byte by byte', async (path, name, version) => {
    const { status, text, headers, body } = await api.get(path);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toMatch(/^application\/json/);
    expect(text).toBe(generated(name));
    const { openapi, asyncapi = openapi } = body as { openapi: string; asyncapi?: string };
    expect(asyncapi).toMatch(new RegExp(`^${version}\\.`));
  });
});

describe('the listings', () => {
  it('of transcription models names the entries and the default', async () => {
    const entry = { engine: 'echo', local: true, available: true, code: 'ready', reason: 'Ready.', supports: [] };
    expect((await api.get('/api/v1/transcribe/models')).body).toEqual({
      data: [
        { id: 'first', name: 'first', ...entry },
        { id: 'second', name: 'second', ...entry, supports: ['keywords'], languages: ['de'] },
      ],
      default: 'first',
    });
  });

  it.each(['/api/v1/models', '/api/v1/tts/models'])('are empty without a configured engine: %s', async (path) => {
    expect(await api.get(path)).toMatchObject({ status: 200, body: { data: [], default: null } });
  });

  it('ignore query parameters', async () => {
    expect((await api.get('/api/v1/models?limit=1&limit=2&after')).status).toBe(200);
  });
});

describe('every response', () => {
  const requests: readonly (readonly [status: number, method: string, path: string, call?: Call])[] = [
    [200, 'GET', '/healthz'],
    [200, 'GET', '/openapi.json'],
    [200, 'GET', '/api/v1/models'],
    [200, 'HEAD', '/api/v1/models'],
    [200, 'POST', '/api/v1/transcribe', form],
    [
      204,
      'OPTIONS',
      '/api/v1/chat',
      { headers: { origin: 'https://a.example', 'access-control-request-method': 'POST' } },
    ],
    [401, 'GET', '/api/v1/models', { headers: { authorization: 'Bearer wrong' } }],
    [404, 'GET', '/nothing'],
    [404, 'GET', '/api/v1/tts/clips/x'],
    [405, 'DELETE', '/api/v1/chat'],
    [415, 'POST', '/api/v1/chat'],
    [422, 'POST', '/api/v1/chat', { headers: { 'content-type': 'application/json' }, body: '{}' }],
    [503, 'POST', '/api/v1/tts', { headers: { 'content-type': 'application/json' }, body: '{"text":"x"}' }],
  ];

  it('has a unique X-Request-Id, which is the instance of its problem', async () => {
    await using keyed = await startTestService({
      ...echo,
      env: { API_KEYS: 'right', CORS_ORIGINS: 'https://a.example' },
    });
    const keyedApi = createApi(keyed.url);
    const seen = new Set<string | null>();
    for (const [status, method, path, call] of requests) {
      const headers = { authorization: 'Bearer right', ...call?.headers };
      // The helper itself holds every problem's instance to the header.
      const answer = await keyedApi.send(method, path, { ...call, headers });
      expect(answer.status, `${method} ${path}`).toBe(status);
      seen.add(answer.headers.get('x-request-id'));
    }
    expect(seen.size).toBe(requests.length);
  });

  it("has the service's X-Request-Id, not the client's", async () => {
    const { headers } = await api.get('/api/v1/models', { 'x-request-id': 'forged\tid' });
    expect(headers.get('x-request-id')).not.toContain('forged');
  });
});

describe('an unknown path', () => {
  it.each([
    '/nothing',
    '/api',
    '/api/v1',
    '/api/v1/',
    '/api/v2/models',
    '/models',
    '/api/v1/Models',
    '/api/v1/models/gpt',
    '/api/v1/tts/clips/a/b',
    '/api/v1/transcribe/../models',
    '/api/v1/%2e%2e/models',
    '/API/v1/models',
    '//api/v1/models',
    '/api/v1/chat/%00',
    '/constructor',
    '/__proto__',
  ])('is answered 404: %s', async (path) => {
    const { status, problem } = await api.get(path);
    expect({ status, code: problem.code }).toEqual({ status: 404, code: 'not-found' });
  });

  it.each(['/api/v1/%', '/api/v1/models%E0%A4%A', '/api/v1/tts/clips/%C3%28', '/%zz'])(
    'is answered 404 when its percent-encoding is malformed: %s',
    async (path) => {
      expect(await api.get(path)).toMatchObject({ status: 404, problem: { code: 'not-found' } });
    },
  );

  it('may have a query whose percent-encoding is malformed', async () => {
    expect((await api.get('/api/v1/transcribe?model=%E0%A4%A')).body).toMatchObject({ code: 'unknown-model' });
    expect((await api.get('/api/v1/models?%')).status).toBe(200);
  });
});

describe('the URL of a clip', () => {
  const clip = (id: string) => api.get(`/api/v1/tts/clips/${id}`);

  it.each(['x', 'x'.repeat(128), '..', '%2e%2e%2fetc', '%F0%9F%98%80'])(
    'is answered 404 when there is no such clip: %s',
    async (id) => {
      expect(await clip(id)).toMatchObject({ status: 404, problem: { code: 'clip-not-found' } });
    },
  );

  it('gets a 422 when its id has more than 128 characters', async () => {
    const { status, problem } = await clip('x'.repeat(129));
    expect(status).toBe(422);
    expect(problem.errors).toEqual([{ in: 'path', pointer: '/id', detail: 'must NOT have more than 128 characters' }]);
  });
});

describe.each(paths)('%s', (path, allow) => {
  const known = allow.split(', ');
  const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'];

  it(`answers 405 and "Allow: ${allow}" to other methods`, async () => {
    for (const method of methods.filter((name) => !known.includes(name))) {
      const { status, headers, body } = await api.send(method, path);
      expect({ method, status, allow: headers.get('allow') }).toEqual({ method, status: 405, allow });
      if (method !== 'HEAD') expect(body).toMatchObject({ code: 'method-not-allowed' });
    }
  });

  if (!known.includes('HEAD')) return;
  it('answers HEAD like GET, without the body', async () => {
    const got = await api.get(path);
    const asked = await api.send('HEAD', path);
    expect(asked.status).toBe(got.status);
    expect(asked.text).toBe('');
    for (const name of ['content-type', 'content-length']) {
      expect(asked.headers.get(name), name).toBe(got.headers.get(name));
    }
  });
});

describe('the access log', () => {
  const accessLines = (log: readonly LogLine[]) => log.filter(({ msg }) => msg === 'request');

  it('has one line per request: id, operation, status and milliseconds', async () => {
    await using fresh = await startTestService(echo);
    const freshApi = createApi(fresh.url);
    const answers: Answer[] = [];
    for (const ask of [
      () => freshApi.get('/api/v1/transcribe?model=first'),
      () => transcribe(freshApi),
      () => freshApi.post('/api/v1/chat', {}),
      () => freshApi.get('/healthz'),
      () => freshApi.get('/nothing'),
    ]) {
      answers.push(await ask());
      await eventually(() => accessLines(fresh.log)).toHaveLength(answers.length); // it may come after the answer
    }
    expect(
      accessLines(fresh.log).map(({ operation, method, path, status }) => ({ operation, method, path, status })),
    ).toEqual([
      { operation: 'getTranscriptionAvailability', method: 'GET', path: '/api/v1/transcribe', status: 200 },
      { operation: 'createTranscription', method: 'POST', path: '/api/v1/transcribe', status: 200 },
      { operation: 'createChat', method: 'POST', path: '/api/v1/chat', status: 422 },
      { method: 'GET', path: '/healthz', status: 200 },
      { method: 'GET', path: '/nothing', status: 404 },
    ]);
    for (const [i, { id, ms }] of accessLines(fresh.log).entries()) {
      expect(id).toBe(answers[i]!.headers.get('x-request-id'));
      expect(ms).toBeTypeOf('number');
      expect(ms).toBeGreaterThanOrEqual(0);
    }
  });

  it('contains no token, no query and no body data, whatever fails', async () => {
    await using fresh = await startTestService({ ...echo, env: { API_KEYS: 'token-secret' } });
    const freshApi = createApi(fresh.url);
    const headers = { authorization: 'Bearer token-secret' };
    const json = { ...headers, 'content-type': 'application/json' };
    await freshApi.get('/api/v1/transcribe?model=query-secret', headers);
    await freshApi.get('/api/v1/models', { authorization: 'Bearer guess-secret' });
    await freshApi.send('POST', '/api/v1/transcribe', {
      headers: { ...multipartType, ...headers },
      body: multipart({ ...recording, filename: 'name-secret.wav' }, { name: 'prompt', value: 'field-secret' }),
    });
    await freshApi.send('POST', '/api/v1/transcribe', {
      headers: { ...multipartType, ...headers },
      body: multipart({ name: 'file', value: 'file-secret', filename: 'x' }),
    });
    await freshApi.post('/api/v1/chat', { messages: [{ role: 'user', content: 'content-secret' }] }, headers);
    await freshApi.post('/api/v1/chat', { messages: 'type-secret' }, headers);
    for (const body of ['{"malformed-secret', 'plain-secret', `{"messages":[${' '.repeat(100)}"long-secret" x]}`]) {
      await freshApi.send('POST', '/api/v1/chat', { headers: json, body });
    }
    await eventually(() => accessLines(fresh.log)).toHaveLength(9);
    expect(JSON.stringify(fresh.log)).not.toMatch(/[a-z]+-secret/);
  });
});

describe('an unexpected error', () => {
  it.each([
    ['an engine throws', broken, 'engine-failed', 'Engine failed', 'EngineError', 'the secret of the engine'],
    [
      ...(['an answer breaks the contract', lawless, 'internal-error', 'Internal error'] as const),
      ...(['ContractViolation', 'createTranscription answers 200'] as const),
    ],
  ])(
    'is a bare 500 to the caller, and the log has the cause: %s',
    async (_what, engine, code, title, type, message) => {
      await using failing = await startTestService(engine);
      const { status, problem, text } = await transcribe(createApi(failing.url));
      expect(status).toBe(500);
      expect(problem).toEqual({
        type: `urn:parlance:problem:${code}`,
        title,
        status: 500,
        code,
        detail: expect.stringContaining('log') as unknown,
        instance: problem.instance,
      });
      expect(text).not.toMatch(/secret|answers|deep|\.[mt]s\b/);
      const logged = failing.log.find(({ id, level }) => id === problem.instance && level >= 50);
      expect(logged).toMatchObject({
        operation: 'createTranscription',
        code,
        err: {
          type,
          message: expect.stringContaining(message) as unknown,
          stack: expect.stringMatching(/\n\s+at /) as unknown,
        },
      });
    },
  );

  it('logs its cause', async () => {
    await using failing = await startTestService(broken);
    await transcribe(createApi(failing.url));
    expect(JSON.stringify(failing.log)).toContain('deep down');
  });

  it('does not affect the next request', async () => {
    await using failing = await startTestService(broken);
    const failingApi = createApi(failing.url);
    await transcribe(failingApi);
    expect((await failingApi.get('/api/v1/transcribe')).body).toMatchObject({ available: true });
  });
});

describe('a request that no engine can serve yet', () => {
  it.each([
    ['/api/v1/chat', { messages: [{ role: 'user', content: 'Hello' }] }],
    ['/v1/chat/completions', { model: 'gpt-4o', messages: [{ role: 'user', content: 'Hello' }] }],
  ])('is one line at info, without a stack: %s', async (path, body) => {
    await using bare = await startTestService({ config: 'engines: {}\n' });
    expect((await createApi(bare.url).post(path, body)).status).toBe(503);
    const about = bare.log.filter(({ code }) => code === 'no-engine');
    expect(about).toMatchObject([{ level: 30, reason: expect.stringContaining('No engine') as unknown }]);
    expect(bare.log.filter(({ level, err }) => level >= 40 || err !== undefined)).toEqual([]);
  });
});
