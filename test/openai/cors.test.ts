/** Who may use /v1: tokens as apps send them, hosts of containers, and web pages with an SDK. */
import OpenAI, { AuthenticationError } from 'openai';
import { describe, expect, it } from 'vitest';
import { createApi } from '../support/http.ts';
import { startTestService } from '../support/service.ts';
import { engines } from './support/engines.ts';

const serve = (env: Readonly<Record<string, string>> = {}) => startTestService({ ...engines, env });
const listed = 'https://app.example.com';

describe('a token', () => {
  it.each(['Bearer ', 'Bearer', 'Bearer undefined', 'Bearer EMPTY', 'Bearer sk-123'])(
    'is ignored in open mode: %j',
    async (authorization) => {
      await using service = await serve();
      expect((await createApi(service.url).get('/v1/models', { authorization })).status).toBe(200);
    },
  );

  it.each(['Bearer ', 'Bearer undefined', 'Bearer wrong', undefined])('is 401 with keys: %j', async (authorization) => {
    await using service = await serve({ API_KEYS: 'right' });
    const headers = authorization === undefined ? {} : { authorization };
    const answer = await createApi(service.url).get('/v1/audio/voices', headers);
    expect(answer.status).toBe(401);
    expect(answer.error).toMatchObject({ type: 'invalid_request_error', code: 'invalid_api_key', param: null });
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer /);
  });

  it.each(['/v1/audio/models', '/v1/models', '/v1/audio/voices'])(
    'that Open WebUI does not send for its speech settings is 401 with keys: GET %s',
    async (path) => {
      await using service = await serve({ API_KEYS: 'right' });
      const { status, error, headers } = await createApi(service.url).get(path, { accept: '*/*' });
      expect({ status, code: error.code }).toEqual({ status: 401, code: 'invalid_api_key' });
      expect(headers.get('content-type')).toMatch(/^application\/json/);
    },
  );

  it('that is wrong is an AuthenticationError of the SDK', async () => {
    await using service = await serve({ API_KEYS: 'right' });
    const list = (apiKey: string) => new OpenAI({ baseURL: `${service.url}/v1`, apiKey }).models.list();
    await expect(list('wrong')).rejects.toBeInstanceOf(AuthenticationError);
    expect((await list('right')).data).not.toEqual([]);
  });
});

describe('a host name', () => {
  it('of a container is rejected in open mode, and the message names the setting', async () => {
    await using service = await serve();
    const { status, error } = await createApi(service.url).get('/v1/models', { host: 'host.docker.internal:8484' });
    expect(status).toBe(403);
    expect(error).toMatchObject({ type: 'permission_error', code: 'host_not_allowed' });
    for (const setting of ['API_KEYS', 'HOST', 'ALLOW_OPEN=true PUBLIC_URL=http://host.docker.internal:8484']) {
      expect(error.message).toContain(setting);
    }
  });

  it('is allowed with keys', async () => {
    await using service = await serve({ API_KEYS: 'right' });
    const headers = { host: 'host.docker.internal:8484', authorization: 'Bearer right' };
    expect((await createApi(service.url).get('/v1/models', headers)).status).toBe(200);
  });
});

describe('a web page', () => {
  const asked = 'authorization,content-type,x-stainless-lang,x-stainless-retry-count';
  const preflight = (origin: string, headers = asked) => ({
    headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': headers },
  });

  it('of a listed origin may send the headers of its SDK and read ours', async () => {
    await using service = await serve({ CORS_ORIGINS: listed });
    const api = createApi(service.url);
    const { status, headers } = await api.send('OPTIONS', '/v1/chat/completions', preflight(listed));
    expect(status).toBe(204);
    expect(headers.get('access-control-allow-headers')).toContain(asked);
    expect(headers.get('vary')).toContain('Access-Control-Request-Headers');
    const answer = await api.get('/v1/models', { origin: listed });
    expect(answer.headers.get('access-control-allow-origin')).toBe(listed);
    const exposed = answer.headers.get('access-control-expose-headers')?.toLowerCase().split(', ');
    const ours = ['x-request-id', 'x-should-retry', 'x-parlance-model', 'x-parlance-ignored', 'x-parlance-synthetic'];
    expect(exposed).toEqual(expect.arrayContaining([...ours, 'retry-after']));
  });

  it.each([
    ['what is no list of names', 'a b: c'],
    ['a very long list', `x-${'a'.repeat(3000)}`],
  ])('gets the known headers when it asks for %s', async (_what, names) => {
    await using service = await serve({ CORS_ORIGINS: listed });
    const { headers } = await createApi(service.url).send('OPTIONS', '/v1/models', preflight(listed, names));
    expect(headers.get('access-control-allow-headers')).toMatch(/^Authorization, [\w, -]{1,70}$/);
  });

  it('of an unlisted origin is rejected in the error format of /v1', async () => {
    await using service = await serve({ CORS_ORIGINS: listed });
    const api = createApi(service.url);
    const origin = 'https://evil.example';
    for (const answer of [
      await api.send('OPTIONS', '/v1/models', preflight(origin)),
      await api.get('/v1/models', { origin }),
    ]) {
      expect(answer.status).toBe(403);
      expect(answer.error).toMatchObject({ type: 'permission_error', code: 'origin_not_allowed' });
      expect(answer.headers.get('access-control-allow-origin')).toBeNull();
    }
  });
});

describe.each(['null', 'file://'])('the origin %s of packaged apps', (origin) => {
  const asked = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'x-stainless-lang' };
  const allowed = async (env: Readonly<Record<string, string>>) => {
    await using service = await serve(env);
    const { headers } = await createApi(service.url).send('OPTIONS', '/v1/models', { headers: { origin, ...asked } });
    return headers.get('access-control-allow-origin');
  };

  it('is allowed with keys when it is listed by name', async () => {
    expect(await allowed({ API_KEYS: 'right', CORS_ORIGINS: `${listed},${origin}` })).toBe(origin);
  });

  it('is not covered by *', async () => {
    expect(await allowed({ API_KEYS: 'right', CORS_ORIGINS: '*' })).toBeNull();
  });

  it('is refused in open mode', async () => {
    const env = { CORS_ORIGINS: `${listed},${origin}` };
    expect(await allowed(env)).toBeNull();
    await using service = await serve(env);
    const answer = await createApi(service.url).get('/v1/models', { origin });
    expect(answer.status).toBe(403);
    expect(answer.error.message).toContain('set API_KEYS');
  });
});
