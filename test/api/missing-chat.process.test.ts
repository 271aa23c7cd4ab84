/** A configured provider that cannot be used is named wherever chat is missing, before a model that could be installed. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { describeService } from '../../src/bin/startup-summary.ts';
import { freePort } from '../support/free-port.ts';
import { createApi } from '../support/http.ts';
import { runScript } from '../support/scripts.ts';
import { answers, startProvider } from '../support/provider.ts';
import { startTls } from '../support/proxy.ts';
import { startTestService } from '../support/service.ts';

const key = 'sk-secret-of-this-test-4711';
const question = { messages: [{ role: 'user', content: 'Hello' }] };

async function refuses() {
  const provider = await startProvider();
  provider.behave(answers(401, { error: { message: `Incorrect API key: ${key}. <img src=x>` } }));
  return provider.baseUrl;
}

/** Has its API below /v1 only. Returns its URL without the path. */
async function startBelowV1() {
  const provider = await startProvider();
  provider.behave((call) => {
    if (call.path === '/v1/models') call.reply(200, { data: [{ id: 'mind' }] });
    else call.reply(404, { error: { message: `Unknown request URL: ${call.method} ${call.path}` } });
  });
  return provider.baseUrl.replace(/\/v1$/, '');
}

/** Unlike the provider of the tests, it answers to TLS. */
async function startHttp() {
  const server = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

const portOf = (url: string) => Number(new URL(url).port);

const causes = [
  {
    cause: 'a key that the provider refuses',
    baseUrl: refuses,
    hint: 'The provider rejected the API key of this service.',
    fix: /Set OPENAI_API_KEY to a key that 127\.0\.0\.1:\d+ accepts\. The provider said: "Incorrect API key: \[key\]\. <img src=x>"\./,
  },
  {
    cause: 'a base URL without /v1',
    baseUrl: startBelowV1,
    hint: 'The provider does not know the requested model or URL.',
    fix: /fix: add \/v1 to the end of OPENAI_BASE_URL\. The provider said: "Unknown request URL: GET \/models"\./,
  },
  {
    cause: 'a base URL with the path of an endpoint',
    baseUrl: async () => `${await startBelowV1()}/v1/chat/completions`,
    hint: 'The provider does not know the requested model or URL.',
    fix: /fix: remove \/chat\/completions from the end of OPENAI_BASE_URL\. The provider said: "Unknown request URL: GET \/v1\/chat\/completions\/models"\./,
  },
  {
    cause: 'a port where nothing listens',
    baseUrl: async () => `http://127.0.0.1:${await freePort()}/v1`,
    hint: 'The provider is unreachable.',
    fix: /Nothing listens at 127\.0\.0\.1:\d+: ECONNREFUSED\. Start the server there, or change the base URL\./,
  },
  {
    cause: 'https for an http server',
    baseUrl: async () => `https://127.0.0.1:${await startHttp()}/v1`,
    hint: 'The provider speaks HTTP, not TLS: its base URL must begin with http://.',
    fix: /Use http:\/\/127\.0\.0\.1:\d+ instead of https:/,
  },
  {
    cause: 'http for an https server',
    baseUrl: async () => `http://127.0.0.1:${await startTls(portOf(await refuses()))}/v1`,
    hint: 'The provider speaks TLS, not plain HTTP: its base URL must begin with https://.',
    fix: /Use https:\/\/127\.0\.0\.1:\d+ instead of http:/,
  },
  {
    cause: 'a certificate of an unknown authority',
    baseUrl: async () => `https://127.0.0.1:${await startTls(portOf(await refuses()))}/v1`,
    hint: 'The certificate of the provider is not accepted.',
    fix: /127\.0\.0\.1:\d+ has one of an unknown authority: [A-Z_]+\. .*NODE_EXTRA_CA_CERTS/,
  },
];

interface Listing {
  readonly reason?: string;
}

describe.each(causes)('$cause', ({ baseUrl, hint, fix }) => {
  const start = async (env: Readonly<Record<string, string>> = {}) => {
    const provider = { OPENAI_API_KEY: key, OPENAI_BASE_URL: await baseUrl() };
    const service = await startTestService({ env: { ...env, ...provider } });
    onTestFinished(() => service[Symbol.asyncDispose]());
    const api = createApi(service.url);
    const headers: Record<string, string> =
      env.API_KEYS === undefined ? {} : { authorization: `Bearer ${env.API_KEYS}` };
    const reason = async () => ((await api.get('/api/v1/models', headers)).body as Listing).reason;
    // A listing waits for the first answer of the provider, but not as long as a busy machine may need.
    await expect.poll(reason).toBeDefined();
    const native = await api.post('/api/v1/chat', question, headers);
    const v1 = await api.post('/v1/chat/completions', { ...question, model: 'gpt-4o' }, headers);
    const { error } = v1.body as { error: { message: string } };
    return { service, provider, reason: await reason(), native: native.problem.detail, v1: error.message };
  };

  test('is named with its fix at the start, in the listing, in the error of a chat and by the doctor', async () => {
    const { service, provider, reason, native, v1 } = await start();
    const paint = (_style: unknown, text: string) => text;
    const summary = describeService(service.service, { page: true, realtime: true }, paint);
    const chat = summary.split('\n').find((line) => line.includes('Chat '))!;
    const doctor = await runScript('src/bin/doctor.ts', [], {
      cwd: service.dir,
      env: { ...provider, DATA_DIR: service.dir },
    });
    const found = doctor.stdout.split('\n').find((line) => line.startsWith('  openai: '));
    for (const text of [chat, found, reason, native, v1]) {
      expect(text).toContain(`openai: ${hint} `);
      expect(text).toMatch(fix);
      expect(text).not.toContain(key);
    }
    expect(native).toMatch(/ Qwen3 0\.6B is not installed: run `npm run setup -- chat`\.$/);
    expect(v1).toMatch(/ No chat model has the id "gpt-4o"; valid are: local-chat\.$/);
  });

  test('is named without addresses, settings and words of the provider to callers with a key', async () => {
    const { reason, native, v1 } = await start({ API_KEYS: 'a-token-of-this-test-4711' });
    expect(reason).toBe(`openai: ${hint}`);
    for (const text of [native, v1]) expect(text).toContain(`openai: ${hint} `);
    expect(`${native}${v1}`).not.toMatch(/127\.0\.0\.1|OPENAI_|The provider said/);
  });
});

test('a server that the service only looks for, such as Ollama, is not missed', async () => {
  await using service = await startTestService();
  const { body } = await createApi(service.url).get('/api/v1/models');
  expect(body).not.toHaveProperty('reason');
  expect(service.log.filter(({ level, engine }) => level > 30 && engine === 'ollama')).toEqual([]);
});
