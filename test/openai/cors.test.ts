/** Who may use /v1, beyond what test/api/access proves for both APIs: apps, containers, and web pages with an SDK. */
import OpenAI, { AuthenticationError } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApi } from '../support/http.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { engines } from './support/engines.ts';

const serve = (env: Readonly<Record<string, string>> = {}) => startTestService({ ...engines, env });
const listed = 'https://app.example.com';

it('a wrong token is 401, which is an AuthenticationError of the SDK', async () => {
  await using service = await serve({ API_KEYS: 'right' });
  const answer = await createApi(service.url).get('/v1/audio/voices', { authorization: 'Bearer undefined' });
  expect(answer.status).toBe(401);
  expect(answer.error).toMatchObject({ type: 'invalid_request_error', code: 'invalid_api_key', param: null });
  expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer /);
  const list = (apiKey: string) => new OpenAI({ baseURL: `${service.url}/v1`, apiKey }).models.list();
  await expect(list('wrong')).rejects.toBeInstanceOf(AuthenticationError);
  expect((await list('right')).data).not.toEqual([]);
});

it('the host name of a container needs keys, which the message says', async () => {
  const host = 'host.docker.internal:8484';
  await using service = await serve();
  const { status, error } = await createApi(service.url).get('/v1/models', { host });
  expect(status).toBe(403);
  expect(error).toMatchObject({ type: 'permission_error', code: 'host_not_allowed' });
  for (const setting of ['API_KEYS', 'HOST', `ALLOW_OPEN=true PUBLIC_URL=http://${host}`])
    expect(error.message).toContain(setting);
  await using keyed = await serve({ API_KEYS: 'right' });
  expect((await createApi(keyed.url).get('/v1/models', { host, authorization: 'Bearer right' })).status).toBe(200);
});

describe('a web page', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await serve({ CORS_ORIGINS: listed });
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const asked = 'authorization,content-type,x-stainless-lang,x-stainless-retry-count';
  const preflight = (origin: string, headers = asked) => ({
    headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': headers },
  });

  it('of a listed origin may send the headers of its SDK and read ours', async () => {
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
    const { headers } = await createApi(service.url).send('OPTIONS', '/v1/models', preflight(listed, names));
    expect(headers.get('access-control-allow-headers')).toMatch(/^Authorization, [\w, -]{1,70}$/);
  });

  it('of an unlisted origin is rejected in the error format of /v1', async () => {
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
