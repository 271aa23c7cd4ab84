/** `POST /v1/realtime/client_secrets`, and the sessions that its secrets open. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Connecting } from '../../src/contract/session.ts';
import type { components } from '../../generated/openai-api.d.ts';
import { connect, echo, refusal, useSessions } from '../http/support/sessions.ts';
import { bearer, keysFile, tokenOf, type TestEntry } from '../keys/support/keys.ts';
import { createApi } from '../support/http.ts';
import { startTestService, type TestService } from '../support/service.ts';

type Secret = components['schemas']['ClientSecret'];

const engines = { config: 'engines: { made-up: { use: sandbox } }\n' };
const path = '/v1/realtime/client_secrets';
const session = { type: 'transcription', audio: { input: { transcription: { language: 'de' } } } };

let last: Connecting | undefined;
useSessions((socket, place, connecting) => {
  last = connecting;
  return echo(socket, place);
});

const startWithKeys = (...entries: readonly TestEntry[]) =>
  startTestService({
    ...engines,
    env: { API_KEYS_FILE: 'keys.yaml' },
    files: { 'keys.yaml': keysFile(...entries) },
    socketCheckMs: 20,
  });

async function create({ url }: TestService, body: object = {}, key?: string, version?: number): Promise<Secret> {
  const {
    status,
    body: secret,
    text,
  } = await createApi(url).post(path, body, key === undefined ? {} : bearer(tokenOf(key, version)));
  expect(status, text).toBe(200);
  return secret as Secret;
}

const asPage = ({ value }: Secret) => ({ protocols: ['realtime', `openai-insecure-api-key.${value}`] });
const asServer = ({ value }: Secret) => bearer(value);

describe('a client secret', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startWithKeys(
      { name: 'app' },
      { name: 'chat', operations: ['createChat'] },
      { name: 'speech', operations: ['createSpeech'] },
    );
  });
  afterAll(() => service[Symbol.asyncDispose]());

  it('opens sessions with its session and for its key, several times, and appears in no log line', async () => {
    const secret = await create(service, { session, expires_after: { anchor: 'created_at', seconds: 60 } }, 'app');
    expect(secret).toMatchObject({ value: expect.stringMatching(/^ek_[\w-]{43}$/) as string, session });
    expect(secret.expires_at - Date.now() / 1000).toBeGreaterThan(50);
    for (let i = 0; i < 2; i += 1) {
      const { ws, closed } = await connect(service, asPage(secret));
      await expect.poll(() => last?.session).toEqual(session);
      last = undefined;
      ws.close();
      await closed;
    }
    await expect.poll(() => service.log.filter(({ status }) => status === 101)).toHaveLength(2);
    expect(service.log.findLast(({ status }) => status === 101)).toMatchObject({ key: 'app' });
    expect(JSON.stringify(service.log)).not.toContain(secret.value);
  });

  it('is nothing but the key of a session', async () => {
    const secret = await create(service, {}, 'app');
    expect((await createApi(service.url).get('/v1/models', asServer(secret))).status).toBe(401);
    expect((await refusal(service, bearer(`${secret.value}x`))).error.code).toBe('invalid_api_key');
  });

  it.each([
    [{ expires_after: { seconds: 9 } }, 'expires_after.seconds'],
    [{ expires_after: { seconds: 7201 } }, 'expires_after.seconds'],
    [{ session: 'all' }, 'session'],
    [{ session: {} }, 'session.type'],
    [
      { session: { type: 'transcription', audio: { input: { transcription: { prompt: 'x'.repeat(16_384) } } } } },
      'session',
    ],
  ])('is not made of %.40j', async (body, param) => {
    const { status, error } = await createApi(service.url).post(path, body, bearer(tokenOf('app')));
    expect([status, error.param]).toEqual([400, param]);
  });

  it.each([
    [404, 'model_not_found', 'no-such-model'],
    [400, 'invalid_request', 'tts-1'],
  ])('is not made with a wrong model: %i %s', async (status, code, model) => {
    const session = { type: 'transcription', audio: { input: { transcription: { model } } } };
    const answer = await createApi(service.url).post(path, { session }, bearer(tokenOf('app')));
    const param = 'session.audio.input.transcription.model';
    expect(answer).toMatchObject({ status, error: { code, param, message: expect.stringContaining(param) as string } });
  });

  it('is made for a conversation, unless its session says otherwise', async () => {
    expect((await create(service, {}, 'app')).session.type).toBe('realtime');
    const asked = { type: 'realtime', output_modalities: ['text'], instructions: 'Be brief.' };
    expect((await create(service, { session: asked }, 'chat')).session).toMatchObject(asked);
    const wrong = { type: 'realtime', audio: { input: { format: { type: 'mp3' } } } };
    const { status, error } = await createApi(service.url).post(path, { session: wrong }, bearer(tokenOf('app')));
    expect([status, error.param]).toEqual([400, 'session.audio.input.format.type']);
  });

  it('is not made for a key that may neither chat nor transcribe, or not what is asked for', async () => {
    expect((await createApi(service.url).post(path, {}, bearer(tokenOf('speech')))).status).toBe(403);
    expect((await createApi(service.url).post(path, { session }, bearer(tokenOf('chat')))).status).toBe(403);
  });
});

const rewrite = async ({ dir, service }: TestService, ...entries: readonly TestEntry[]) => {
  await writeFile(join(dir, 'keys.yaml'), keysFile(...entries));
  await service.reload();
};

it.each<[string, TestEntry, number]>([
  ['is removed', { name: 'other' }, 401],
  ['gets another token', { name: 'app', version: 2 }, 401],
  ['loses the operations', { name: 'app', operations: ['createSpeech'] }, 403],
])('fails when its key %s, and so do the sessions of both', async (_what, entry, status) => {
  await using service = await startWithKeys({ name: 'app' });
  const secret = await create(service, {}, 'app');
  const sessions = [
    await connect(service, asPage(secret)),
    await connect(service, { headers: bearer(tokenOf('app')) }),
  ];
  await rewrite(service, entry);
  expect(await Promise.all(sessions.map(({ closed }) => closed))).toEqual([1008, 1008]);
  expect((await refusal(service, asServer(secret))).status).toBe(status);
});

it('outlives the other tokens of its key, and so does its session', async () => {
  await using service = await startWithKeys({ name: 'app' }, { name: 'app', version: 2 });
  const [old, secret] = [await create(service, {}, 'app'), await create(service, {}, 'app', 2)];
  const [ended, kept] = [await connect(service, asPage(old)), await connect(service, asPage(secret))];
  await rewrite(service, { name: 'app', version: 2, weight: 2 });
  expect(await ended.closed).toBe(1008);
  kept.ws.send('still there');
  expect(await kept.next()).toBe('still there');
  await connect(service, asPage(secret));
  expect((await refusal(service, asServer(old))).status).toBe(401);
});

it('counts as a request of its key, whose limits govern its sessions; unknown ones count as failed logins', async () => {
  await using service = await startWithKeys({ name: 'app', limits: { requestsPerMinute: 3, concurrentRequests: 1 } });
  const secret = await create(service, {}, 'app');
  await connect(service, asPage(secret));
  expect((await refusal(service, bearer(tokenOf('app')))).error.code).toBe('concurrency_limited');
  expect((await refusal(service, asServer(secret))).error.code).toBe('rate_limit_exceeded');
  for (let i = 0; i < 10; i += 1) expect((await refusal(service, bearer('ek_none'))).status).toBe(401);
  expect((await refusal(service, bearer('ek_none'))).status).toBe(429);
});

it('carries a session in open mode as well, where other tokens are not read', async () => {
  await using service = await startTestService(engines);
  const secret = await create(service, { session });
  await connect(service, asPage(secret));
  await expect.poll(() => last?.session).toEqual(session);
  await connect(service, { headers: bearer('ek_none') });
  await expect.poll(() => last?.session).toBeUndefined();
});
