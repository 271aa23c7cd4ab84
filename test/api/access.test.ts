/** Access: bearer tokens, or in open mode this machine, except web pages of other origins. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApi, type Api } from '../support/http.ts';
import { startTestService, type TestService, type TestServiceOptions } from '../support/service.ts';
import { echo } from './support/engines.ts';
import { multipart, multipartType, recording } from './support/forms.ts';
import { connectRaw, requestHead } from './support/raw-socket.ts';

/** A service for the tests of a `describe`. */
function serve(env: NonNullable<TestServiceOptions['env']>): { readonly api: Api; readonly url: string } {
  let service: TestService | undefined;
  const url = () => service?.url ?? '';
  beforeAll(async () => {
    service = await startTestService({ ...echo, env });
  });
  afterAll(() => service?.[Symbol.asyncDispose]());
  return {
    get api() {
      return createApi(url());
    },
    get url() {
      return url();
    },
  };
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const chat = { messages: [{ role: 'user', content: 'Hello' }] };

/** A client of its own for each wrong token: from one address, only 10 a minute are answered with 401. */
let clients = 0;
const newClient = () => ({ 'x-forwarded-for': `192.0.2.${String((clients += 1))}` });

describe('with API_KEYS', () => {
  const service = serve({ API_KEYS: 'first-key,second-key, third', TRUST_PROXY: '1' });

  // test/contract/statuses and test/keys/permissions have every operation.
  it('responds with 401 and WWW-Authenticate without a token', async () => {
    const { status, headers, problem } = await service.api.get('/api/v1/models');
    expect({ status, code: problem.code }).toEqual({ status: 401, code: 'unauthorized' });
    expect(headers.get('www-authenticate')).toBe('Bearer realm="parlance"');
  });

  it('responds with 401 to an unknown token', async () => {
    const { status, headers, text } = await service.api.get('/api/v1/models', {
      ...bearer('wrong-key'),
      ...newClient(),
    });
    expect(status).toBe(401);
    expect(headers.get('www-authenticate')).toBe('Bearer realm="parlance", error="invalid_token"');
    expect(text).not.toMatch(/wrong-key|first-key/);
  });

  it.each(['first-key', 'second-key', 'third'])('accepts the key %s', async (key) => {
    const form = { headers: { ...multipartType, ...bearer(key) }, body: multipart(recording) };
    expect((await service.api.send('POST', '/api/v1/transcribe', form)).status).toBe(200);
    expect((await service.api.post('/api/v1/chat', chat, bearer(key))).problem.code).toBe('no-engine');
  });

  it.each(['bearer first-key', 'BEARER first-key', 'Bearer  first-key'])(
    'takes %j for a key',
    async (authorization) => {
      expect((await service.api.get('/api/v1/models', { authorization })).status).toBe(200);
    },
  );

  it.each([
    'first-key',
    'Bearer',
    'Bearer ',
    'Bearerfirst-key',
    'Basic first-key',
    'Basic Zmlyc3Qta2V5Og==',
    'Bearer first-key second-key',
    'Bearer first-key,second-key',
    'Bearer first-ke',
    'Bearer first-keys',
    'Bearer First-Key',
    'Bearer "first-key"',
    'Bearer undefined',
  ])('takes %j for none', async (authorization) => {
    const { status, headers } = await service.api.get('/api/v1/models', { authorization, ...newClient() });
    expect(status).toBe(401);
    expect(headers.get('www-authenticate')).toMatch(/^Bearer /);
  });

  it('ignores keys in the query or in other headers', async () => {
    const headers = { 'x-api-key': 'first-key', cookie: 'authorization=Bearer first-key' };
    expect((await service.api.get('/api/v1/models?access_token=first-key&api_key=first-key', headers)).status).toBe(
      401,
    );
  });

  it('authenticates before it checks the content type or the body', async () => {
    const call = { headers: { 'content-type': 'text/plain' }, body: '{' };
    expect((await service.api.send('POST', '/api/v1/chat', call)).status).toBe(401);
  });

  it('needs no token for a clip', async () => {
    const { status, problem } = await service.api.get('/api/v1/tts/clips/Vb1yPz4mQ0iYxkq3o9TtWw');
    expect({ status, code: problem.code }).toEqual({ status: 404, code: 'clip-not-found' });
  });

  it.each([
    '/healthz',
    '/readyz',
    '/openapi.json',
    '/openapi-3.2.json',
    '/openapi-compat.json',
    '/asyncapi-compat.json',
  ])('needs no token for %s', async (path) => {
    expect((await service.api.get(path)).status).toBe(200);
  });

  it('ignores Host and Origin', async () => {
    const strange = { host: 'voice.example.com', origin: 'https://evil.example', ...bearer('third') };
    expect((await service.api.get('/api/v1/models', strange)).status).toBe(200);
  });
});

describe('open mode', () => {
  const service = serve({ PUBLIC_URL: 'https://voice.localhost:8443/base', CORS_ORIGINS: 'https://app.example.com' });
  const statusFor = async (headers: Readonly<Record<string, string>>) =>
    (await service.api.get('/api/v1/models', headers)).status;

  it.each([
    'localhost',
    'LOCALHOST:8484',
    'localhost:1',
    'parlance.localhost',
    '127.0.0.1',
    '127.0.0.1:8484',
    '127.1.2.3',
    '[::1]',
    '[::1]:8484',
    'voice.localhost:8443',
  ])('answers to the host %s', async (host) => {
    expect(await statusFor({ host })).toBe(200);
  });

  it.each([
    'evil.example',
    'evil.example:8484',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '127.0.0.1.nip.io',
    'notlocalhost',
    '192.168.1.10',
    '0.0.0.0',
    '128.0.0.1',
    '[::2]',
    '[::ffff:192.168.1.10]',
    'localhost@evil.example',
    'evil.example#localhost',
  ])('does not answer to the host %j', async (host) => {
    const { status, problem } = await service.api.get('/api/v1/models', { host });
    expect({ status, code: problem.code }).toEqual({ status: 403, code: 'host-not-allowed' });
  });

  it('rejects an empty host', async () => {
    using connection = await connectRaw(service.url);
    await connection.send(requestHead('GET', '/api/v1/models', { host: '' }));
    expect(await connection.answer('GET', '/api/v1/models')).toMatchObject({ status: 403 });
  });

  it.each(['/api/v1/tts/clips/x', '/openapi.json'])('rejects a foreign host at %s', async (path) => {
    expect((await service.api.get(path, { host: 'evil.example' })).problem.code).toBe('host-not-allowed');
  });

  it.each(['/healthz', '/readyz'])('serves %s for any host', async (path) => {
    expect((await service.api.get(path, { host: '10.0.0.7:8484' })).status).toBe(200);
  });

  it('accepts requests without an Origin', async () => {
    expect(await statusFor({})).toBe(200);
  });

  it.each([
    ['of the service itself', 'localhost:8484', 'http://localhost:8484'],
    ['of the service itself behind TLS', 'localhost:8484', 'https://localhost:8484'],
    ['of PUBLIC_URL', 'localhost:8484', 'https://voice.localhost:8443'],
    ['that CORS_ORIGINS lists', 'localhost:8484', 'https://app.example.com'],
  ])('answers to pages %s', async (_whose, host, origin) => {
    expect(await statusFor({ host, origin })).toBe(200);
  });

  it.each([
    'https://evil.example',
    'null',
    'http://localhost:3000',
    'http://localhost',
    'http://127.0.0.1:8484',
    'http://app.example.com',
    'https://app.example.com:444',
    'https://app.example.com.evil.example',
    'https://evil.app.example.com',
    'https://voice.localhost',
    'chrome-extension://abc',
    '',
  ])('does not answer to pages of %j', async (origin) => {
    const { status, problem, headers } = await service.api.get('/api/v1/models', { host: 'localhost:8484', origin });
    expect({ status, code: problem.code }).toEqual({ status: 403, code: 'origin-not-allowed' });
    expect(headers.get('access-control-allow-origin')).toBeNull();
  });

  it('names the setting for a page of a development server, whose proxy sends its origin on', async () => {
    const origin = 'http://localhost:5173';
    const { problem } = await service.api.get('/api/v1/models', { host: 'localhost:8484', origin });
    expect(problem.detail).toBe(
      `Pages of ${origin} may not use this service: start it with CORS_ORIGINS=${origin} (comma-separated with others), also when a development proxy such as Vite's is between.`,
    );
  });

  it('rejects a cross-origin form, which needs no preflight, before reading it', async () => {
    const headers = { ...multipartType, origin: 'https://evil.example' };
    const call = { headers, body: multipart(recording) };
    const { problem } = await service.api.send('POST', '/api/v1/transcribe', call);
    expect(problem.code).toBe('origin-not-allowed');
  });

  it.each(['Bearer whatever', 'Bearer ', 'Bearer', 'Bearer undefined'])(
    'ignores the token %j',
    async (authorization) => {
      expect(await statusFor({ authorization })).toBe(200);
      expect((await service.api.get('/v1/models', { authorization })).status).toBe(200);
    },
  );
});

describe('CORS', () => {
  const listed = 'https://app.example.com';
  const exposed = ['Link', 'X-Request-Id', 'Retry-After'];
  const preflight = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' };

  const list = (value: string | null) => (value ?? '').split(/, */);

  describe.each([
    ['in open mode', {}, {}],
    ['with keys', { API_KEYS: 'right' }, bearer('right')],
  ])('%s', (_mode, env: Readonly<Record<string, string>>, token: Readonly<Record<string, string>>) => {
    const service = serve({ CORS_ORIGINS: `${listed},http://localhost:5173`, ...env });

    it('lets a listed origin read a response', async () => {
      const { status, headers } = await service.api.get('/api/v1/models', { origin: listed, ...token });
      expect(status).toBe(200);
      expect(headers.get('access-control-allow-origin')).toBe(listed);
      expect(list(headers.get('access-control-expose-headers'))).toEqual(expect.arrayContaining(exposed));
      expect(list(headers.get('vary'))).toContain('Origin');
      expect(headers.get('access-control-allow-credentials')).toBeNull();
    });

    it.each([
      ['422', 'POST', '/api/v1/chat', { 'content-type': 'application/json' }],
      ['404', 'GET', '/api/v1/nothing', {}],
      ['405', 'PUT', '/api/v1/chat', {}],
      ['415', 'POST', '/api/v1/chat', { 'content-type': 'text/plain' }],
    ])('lets it read a problem, too: %s', async (status, method, path, headers) => {
      const call = { headers: { origin: listed, ...headers, ...token } };
      const answer = await service.api.send(method, path, call);
      expect(answer.status).toBe(Number(status));
      expect(answer.headers.get('access-control-allow-origin')).toBe(listed);
      expect(list(answer.headers.get('access-control-expose-headers'))).toEqual(expect.arrayContaining(exposed));
    });

    it('answers its preflight without a token', async () => {
      const headers = { origin: 'http://localhost:5173', ...preflight };
      const answer = await service.api.send('OPTIONS', '/api/v1/chat', { headers });
      expect(answer.status).toBe(204);
      expect(answer.text).toBe('');
      expect(answer.headers.get('access-control-allow-origin')).toBe('http://localhost:5173');
      const methods = list(answer.headers.get('access-control-allow-methods'));
      expect(methods).toEqual(expect.arrayContaining(['GET', 'POST']));
      const allowed = list(answer.headers.get('access-control-allow-headers')).map((name) => name.toLowerCase());
      expect(allowed).toEqual(expect.arrayContaining(['authorization', 'content-type', 'range']));
      expect(Number(answer.headers.get('access-control-max-age'))).toBeGreaterThan(0);
    });

    it.each(['https://evil.example', 'null', 'http://app.example.com'])(
      'refuses the preflight of %s',
      async (origin) => {
        const answer = await service.api.send('OPTIONS', '/api/v1/chat', { headers: { origin, ...preflight } });
        expect(answer.status).toBe(403);
        expect(answer.problem.code).toBe('origin-not-allowed');
        expect(answer.headers.get('access-control-allow-origin')).toBeNull();
        expect(answer.headers.get('access-control-allow-methods')).toBeNull();
      },
    );
  });

  describe('with keys', () => {
    const service = serve({ CORS_ORIGINS: listed, API_KEYS: 'right' });

    it('lets a listed origin read an error', async () => {
      const { status, headers } = await service.api.get('/api/v1/models', { origin: listed });
      expect(status).toBe(401);
      expect(headers.get('access-control-allow-origin')).toBe(listed);
    });

    it('hides responses from unlisted origins', async () => {
      const asked = { origin: 'https://evil.example', ...bearer('right') };
      const { status, headers } = await service.api.get('/api/v1/models', asked);
      expect(status).toBe(200);
      expect(headers.get('access-control-allow-origin')).toBeNull();
    });
  });

  it('allows any origin with *', async () => {
    await using service = await startTestService({ ...echo, env: { CORS_ORIGINS: '*' } });
    const api = createApi(service.url);
    const origin = 'https://any.example';
    const { status, headers } = await api.get('/api/v1/models', { origin });
    expect(status).toBe(200);
    expect([origin, '*']).toContain(headers.get('access-control-allow-origin'));
    expect((await api.send('OPTIONS', '/api/v1/chat', { headers: { origin, ...preflight } })).status).toBe(204);
    const opaque = await api.get('/api/v1/models', { origin: 'null' }); // of any sandboxed frame
    expect(opaque.problem.code).toBe('origin-not-allowed');
    expect((await api.get('/api/v1/models', { host: 'evil.example', origin })).problem.code).toBe('host-not-allowed');
  });
});

describe('an address beyond loopback', () => {
  it('is allowed with API_KEYS', async () => {
    await using service = await startTestService({ ...echo, env: { HOST: '0.0.0.0', API_KEYS: 'right' } });
    expect((await createApi(service.url).get('/api/v1/models', bearer('right'))).status).toBe(200);
  });

  describe('with ALLOW_OPEN=true', () => {
    const PUBLIC_URL = 'https://voice.example.com:8443/base';
    const service = serve({ HOST: '0.0.0.0', ALLOW_OPEN: 'true', PUBLIC_URL });

    it.each([
      ['192.168.1.10:8484', 200],
      ['voice.example.com', 200],
      ['voice.example.com:8443', 200],
      ['Voice.Example.Com', 200],
      ['evil.example', 403],
      ['evil.voice.example.com', 403],
      ['voice.example.com.evil.example', 403],
    ])('is allowed for IP addresses and the host of PUBLIC_URL: %s', async (host, status) => {
      expect((await service.api.get('/api/v1/models', { host })).status).toBe(status);
    });

    it.each([
      ['https://voice.example.com:8443', 200],
      ['https://voice.example.com', 403],
    ])('is allowed for pages of PUBLIC_URL: %s', async (origin, status) => {
      expect((await service.api.get('/api/v1/models', { origin })).status).toBe(status);
    });
  });
});
