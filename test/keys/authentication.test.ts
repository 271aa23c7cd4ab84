/** Keys of the file and of API_KEYS over HTTP: unknown, expired, too many wrong ones. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { as, hello, hold, startLimited } from '../limits/support.ts';
import { createApi, type Api, type Call } from '../support/http.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { engines } from './support/engines.ts';
import { bearer, keysFile, tokenOf } from './support/keys.ts';

const plain = tokenOf('plain');
const expired = { name: 'app', expires: '2020-01-01T00:00:00Z' };

const start = (keys: string, env: Readonly<Record<string, string>> = {}) =>
  startTestService({
    ...engines,
    files: { ...engines.files, 'keys.yaml': keys },
    env: { API_KEYS_FILE: 'keys.yaml', ...env },
  });

let service: TestService;
let api: Api;
beforeAll(async () => {
  const keys = keysFile(expired, { name: 'app', version: 2 });
  service = await start(keys, { API_KEYS: plain, TRUST_PROXY: '1' });
  api = createApi(service.url);
});
afterAll(() => service[Symbol.asyncDispose]());

const paths = ['/api/v1/models', '/v1/models'];

describe.each(paths)('GET %s', (path) => {
  const statusFor = async (headers: Call['headers']) => (await api.get(path, headers)).status;

  it('accepts the keys of both sources', async () => {
    expect(await statusFor(bearer(plain))).toBe(200);
    expect(await statusFor(bearer(tokenOf('app', 2)))).toBe(200);
    expect(await statusFor({ ...bearer(plain), host: 'voice.example.com', origin: 'https://elsewhere.example' })).toBe(200); // prettier-ignore
  });

  it('responds with 401 to an expired key and names the reason, however often', async () => {
    for (let times = 0; times < 12; times += 1) {
      const { status, headers, text } = await api.get(path, bearer(tokenOf('app', 1)));
      expect(status).toBe(401);
      expect(headers.get('www-authenticate')).toBe('Bearer realm="parlance", error="invalid_token"');
      expect(text).toContain('The API key has expired.');
    }
  });

  it('responds with 429 after ten unknown tokens a minute from one address; a valid key passes', async () => {
    const from = (address: string) => ({ 'x-forwarded-for': `6.6.6.6, ${address}` });
    const attacker = from(path === paths[0] ? '192.0.2.1' : '2001:db8::1');
    for (let times = 0; times < 20; times += 1) expect(await statusFor(attacker)).toBe(401); // without a token
    for (let times = 0; times < 10; times += 1)
      expect(await statusFor({ ...attacker, ...bearer(`guess-${String(times)}`) })).toBe(401);
    const { status, headers, text } = await api.get(path, { ...attacker, ...bearer('guess-11') });
    expect({ status, wait: Number(headers.get('retry-after')) }).toEqual({ status: 429, wait: expect.any(Number) as number }); // prettier-ignore
    expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(60);
    expect(headers.get('www-authenticate')).toBeNull();
    expect(text).toContain('Too many unknown API keys from this address; try again in ');
    expect(await statusFor({ ...attacker, ...bearer(plain) })).toBe(200);
    expect(await statusFor(attacker)).toBe(401);
    expect(await statusFor({ ...from('192.0.2.99'), ...bearer('guess-12') })).toBe(401);
    const warnings = service.log.filter(({ msg }) => msg === 'too many unknown API keys from one address');
    expect(warnings.at(-1)).toMatchObject({ address: path === paths[0] ? '192.0.2.1' : '2001:db8:0:0::/64' });
  });
});

it.each(['/api/v1/chat', '/api/v1/chat/stream', '/v1/chat/completions'])(
  '%s works for its key to the end, also while the answer is sent',
  async (path) => {
    await using limited = await startLimited({ app: {} });
    const held = hold();
    const body = { ...hello('held'), ...(path.startsWith('/v1') && { stream: true }) };
    const answer = createApi(limited.url).post(path, body, as('app'));
    await held.wait(1);
    held.release();
    expect((await answer).status).toBe(200);
    expect(held.callers).toEqual(['app']);
  },
);

it('without any valid key, every request is rejected', async () => {
  await using closed = await start(keysFile(expired));
  expect((await closed.api('/models')).status).toBe(401);
  expect((await closed.api('/models', { headers: bearer(tokenOf('app', 1)) })).status).toBe(401);
});

it.each([
  ['is not there', { API_KEYS_FILE: 'nowhere.yaml' }, /^API_KEYS_FILE: \S+nowhere.yaml cannot be read: ENOENT/],
  ['has no keys', {}, /^API_KEYS_FILE: \S+keys.yaml has no keys; fix: npm run key -- new NAME$/],
])('a file that %s stops the start', async (_what, env, message) => {
  await expect(start('keys: []', env)).rejects.toThrow(message);
});
