/** Limits of API keys as clients meet them, in both APIs. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { multipart, multipartType, recording } from '../api/support/forms.ts';
import { createApi, type Answer } from '../support/http.ts';
import { streamReader } from '../support/open-stream.ts';
import type { TestServiceOptions } from '../support/service.ts';
import { parseList } from '../support/structured-fields.ts';
import { as, hello, hold, startLimited, type Keys } from './support.ts';

async function serve(keys: Keys, options?: TestServiceOptions) {
  const service = await startLimited(keys, options);
  onTestFinished(() => service[Symbol.asyncDispose]());
  const api = createApi(service.url);
  return {
    service,
    api,
    get: (path: string, key = 'app') => api.get(path, as(key)),
    post: (path: string, body: unknown, key = 'app') => api.post(path, body, as(key)),
    upload: (path: string, model = 'fine', more: Readonly<Record<string, string>> = {}) =>
      api.send('POST', path, { headers: { ...multipartType, ...as('app') }, body: formOf(model, more) }),
  };
}

const formOf = (model: string, more: Readonly<Record<string, string>> = {}) =>
  multipart(
    { name: 'model', value: Buffer.from(model) },
    ...Object.entries(more).map(([name, value]) => ({ name, value: Buffer.from(value) })),
    recording,
  );

const namesOf = (field: string | null) => parseList(field ?? '').map(({ value }) => value);
const stateOf = ({ headers }: Pick<Answer, 'headers'>, name: string) =>
  parseList(headers.get('ratelimit') ?? '').find(({ value }) => value === name)?.parameters;

describe('requestsPerMinute', () => {
  it('rejects the third request in a minute, in either API', async () => {
    const { get } = await serve({ app: { requestsPerMinute: 2 } });
    for (let count = 1; count <= 2; count += 1) {
      const answer = await get(count % 2 === 0 ? '/api/v1/models' : '/v1/models');
      expect(answer.status).toBe(200);
      expect(stateOf(answer, 'requests')).toMatchObject({ r: 2 - count });
    }
    const native = await get('/api/v1/models');
    const seconds = Number(native.headers.get('retry-after'));
    expect(native.problem).toMatchObject({
      status: 429,
      code: 'rate-limited',
      retry_after: seconds,
      violated_policies: ['requests'],
    });
    expect(parseList(native.headers.get('ratelimit-policy')!)).toEqual([
      { value: 'requests', parameters: { q: 2, w: 60 } },
    ]);
    expect(stateOf(native, 'requests')).toMatchObject({ r: 0 });
    expect(seconds).toBeGreaterThanOrEqual(Number(stateOf(native, 'requests')?.t));

    const openai = await get('/v1/models');
    expect(openai.status).toBe(429);
    expect(openai.error).toMatchObject({ type: 'rate_limit_error', code: 'rate_limit_exceeded' });
    expect(Object.fromEntries(openai.headers)).toMatchObject({
      'x-ratelimit-limit-requests': '2',
      'x-ratelimit-remaining-requests': '0',
      'x-ratelimit-reset-requests': expect.stringMatching(/^\d+s$/) as string,
    });
    const wait = Number(openai.headers.get('retry-after'));
    expect(openai.headers.get('x-should-retry')).toBe(String(wait <= 60));
  });

  it('counts neither requests without a valid key nor those that the key may not send', async () => {
    const { api, get } = await serve({ app: { requestsPerMinute: 2 } });
    const anonymous = await api.get('/api/v1/models');
    const wrong = await api.get('/api/v1/models', { authorization: 'Bearer wrong-key-of-somebody-else' });
    for (const { status, headers } of [anonymous, wrong]) {
      expect(status).toBe(401);
      expect([...headers.keys()].filter((name) => name.includes('ratelimit'))).toEqual([]);
    }
    expect(stateOf(await get('/api/v1/models'), 'requests')).toMatchObject({ r: 1 });
  });

  it('does not affect other keys, the documents and the probes', async () => {
    const { get, api } = await serve({ app: { requestsPerMinute: 1 }, other: {} });
    await get('/api/v1/models');
    expect((await get('/api/v1/models')).status).toBe(429);
    const other = await get('/api/v1/models', 'other');
    expect({ status: other.status, field: other.headers.get('ratelimit') }).toEqual({ status: 200, field: null });
    expect((await api.get('/healthz', as('app'))).status).toBe(200);
    expect((await api.get('/openapi.json', as('app'))).status).toBe(200);
  });
});

describe('concurrentRequests', () => {
  it('is retryable under /v1, and names the limit', async () => {
    const { post } = await serve({ app: { concurrentRequests: 1 } });
    const held = hold();
    const first = post('/api/v1/chat', hello('held'));
    await held.wait(1);
    const native = await post('/api/v1/chat', hello());
    expect(native.problem).toMatchObject({
      code: 'concurrency-limited',
      retry_after: 1,
      violated_policies: ['concurrent'],
    });
    const openai = await post('/v1/chat/completions', hello());
    expect(openai.error).toMatchObject({ type: 'rate_limit_error', code: 'concurrency_limited' });
    expect(openai.headers.get('x-should-retry')).toBe('true');
    held.release();
    expect((await first).status).toBe(200);
    expect(stateOf(await first, 'concurrent')).toEqual({ r: 0 });
  });

  it('releases the slot of a request that fails, and of a client that disconnects', async () => {
    const { post, service } = await serve({ app: { concurrentRequests: 1 } });
    expect((await post('/api/v1/chat', hello('absent'))).status).toBe(422);
    expect((await post('/api/v1/chat', hello('failing'))).status).toBe(500);
    const held = hold();
    const leaving = new AbortController();
    const gone = service.post('/chat', hello('held'), { headers: as('app'), signal: leaving.signal });
    await held.wait(1);
    leaving.abort();
    await expect(gone).rejects.toThrow();
    while (!service.log.some(({ status }) => status === 499)) await new Promise((resolve) => setImmediate(resolve));
    expect((await post('/api/v1/chat', hello())).status).toBe(200);
  });
});

describe('tokensPerDay', () => {
  it('counts what chats have used, refuses chats when it is used up, and nothing else', async () => {
    const { get, post, upload } = await serve({ app: { tokensPerDay: 25 } });
    expect(stateOf(await post('/api/v1/chat', hello()), 'tokens'), 'with its own').toMatchObject({ r: 15 });
    expect(stateOf(await post('/v1/chat/completions', hello()), 'tokens')).toMatchObject({ r: 5 });
    expect((await post('/api/v1/chat', hello())).status, 'the one that crosses the line').toBe(200);
    const native = await post('/api/v1/chat', hello());
    expect(native.problem).toMatchObject({ code: 'quota-exceeded', violated_policies: ['tokens'] });
    expect(Number(native.headers.get('retry-after'))).toBeGreaterThanOrEqual(Number(stateOf(native, 'tokens')?.t));
    const openai = await post('/v1/chat/completions', hello());
    expect(openai.status).toBe(429);
    expect(openai.error).toMatchObject({ type: 'insufficient_quota', code: 'insufficient_quota' });
    expect(openai.headers.get('x-should-retry')).toBe('false');
    expect((await get('/api/v1/models')).status).toBe(200);
    expect((await upload('/api/v1/transcribe')).status).toBe(200);
  });

  it('counts what is known of a run that fails, and of one whose client disconnects', async () => {
    const { post, service } = await serve({ app: { tokensPerDay: 100 } });
    await post('/api/v1/chat', hello('failing'));
    const held = hold();
    const leaving = new AbortController();
    const init = { headers: as('app'), signal: leaving.signal };
    const stream = await service.post('/chat/stream', hello('held'), init);
    await held.wait(1);
    leaving.abort();
    await expect(stream.text()).rejects.toThrow();
    while (!service.log.some(({ status }) => status === 499)) await new Promise((resolve) => setImmediate(resolve));
    expect(stateOf(await post('/api/v1/chat', hello()), 'tokens')).toMatchObject({ r: 100 - 7 - 7 - 10 });
  });

  it('estimates a run whose usage is not reported: a token for four characters of the messages and the answer', async () => {
    const { post } = await serve({ app: { tokensPerDay: 100 } });
    expect(stateOf(await post('/api/v1/chat', hello('unreported')), 'tokens')).toMatchObject({ r: 98 });
  });

  it('estimates the last round of a run whose usage is only that of the rounds before it', async () => {
    const { post } = await serve({ app: { tokensPerDay: 100 } });
    // 7 tokens as reported; the message, the first answer and the second have 11 characters.
    expect(stateOf(await post('/api/v1/chat', hello('half-reported')), 'tokens')).toMatchObject({ r: 100 - 7 - 3 });
  });

  it('estimates what a stream has delivered to a client that disconnects', async () => {
    const { post, service } = await serve({ app: { tokensPerDay: 200 } });
    const held = hold();
    const leaving = new AbortController();
    const init = { headers: as('app'), signal: leaving.signal };
    const stream = await service.post('/chat/stream', hello('untold'), init);
    await held.wait(1);
    leaving.abort();
    await expect(stream.text()).rejects.toThrow();
    while (!service.log.some(({ status }) => status === 499)) await new Promise((resolve) => setImmediate(resolve));
    expect(stateOf(await post('/api/v1/chat', hello()), 'tokens')).toMatchObject({ r: 200 - 100 - 10 });
  });
});

describe('audioMinutesPerDay', () => {
  it('counts the length of recordings, refuses transcriptions when it is used up, and nothing else', async () => {
    const { post, upload } = await serve({ app: { audioMinutesPerDay: 2.5 } });
    expect(stateOf(await upload('/api/v1/transcribe'), 'audio')).toMatchObject({ r: 90 });
    expect(stateOf(await upload('/v1/audio/transcriptions'), 'audio')).toMatchObject({ r: 30 });
    expect((await upload('/api/v1/transcribe')).status).toBe(200);
    expect((await upload('/api/v1/transcribe')).problem).toMatchObject({
      code: 'quota-exceeded',
      violated_policies: ['audio'],
    });
    expect((await upload('/v1/audio/transcriptions')).error).toMatchObject({ code: 'insufficient_quota' });
    expect((await post('/api/v1/chat', hello())).status).toBe(200);
  });

  it('counts what is known of a transcription that fails, and nothing where no length is known', async () => {
    const { upload } = await serve({ app: { audioMinutesPerDay: 10 } });
    expect((await upload('/api/v1/transcribe', 'failing')).status).toBe(500);
    expect(stateOf(await upload('/api/v1/transcribe', 'unreported'), 'audio')).toMatchObject({ r: 570 });
  });
});

it('streams have the fields in their head', async () => {
  const { upload, post, service } = await serve({
    app: { requestsPerMinute: 10, concurrentRequests: 2, audioMinutesPerDay: 10, tokensPerDay: 100 },
  });
  const body = { ...hello(), stream: true };
  const chat = await post('/v1/chat/completions', body);
  expect(namesOf(chat.headers.get('ratelimit'))).toEqual(['requests', 'concurrent', 'tokens']);
  expect(chat.headers.get('x-ratelimit-remaining-requests')).toBe('9');
  const transcription = await upload('/v1/audio/transcriptions', 'fine', { stream: 'true' });
  expect(namesOf(transcription.headers.get('ratelimit'))).toEqual(['requests', 'concurrent', 'audio']);

  const json = { 'content-type': 'application/json', ...as('app') };
  const chats = streamReader('/api/v1/chat/stream', 'ChatEvent');
  const native = await chats.read(service.url, { body: JSON.stringify(hello()), headers: json });
  expect(namesOf(native.answer.headers.get('ratelimit'))).toEqual(['requests', 'concurrent', 'tokens']);
  const transcripts = streamReader('/api/v1/transcribe/stream', 'TranscriptionEvent');
  const form = { body: formOf('fine'), headers: { ...multipartType, ...as('app') } };
  const transcript = await transcripts.read(service.url, form);
  expect(namesOf(transcript.answer.headers.get('ratelimit'))).toEqual(['requests', 'concurrent', 'audio']);
  expect(namesOf(transcript.answer.headers.get('ratelimit-policy'))).toEqual(['requests', 'concurrent', 'audio']);
});

it('a failure for another reason has no rate limit fields', async () => {
  const { post } = await serve({ app: { requestsPerMinute: 10 } });
  expect((await post('/api/v1/chat', hello('absent'))).headers.get('ratelimit')).toBeNull();
});

it('pages of a listed origin can read the fields', async () => {
  const { api } = await serve({ app: {} }, { env: { CORS_ORIGINS: 'https://app.example' } });
  const { headers } = await api.get('/api/v1/models', { ...as('app'), origin: 'https://app.example' });
  const exposed = headers.get('access-control-expose-headers')?.split(', ');
  expect(exposed).toEqual(expect.arrayContaining(['RateLimit', 'RateLimit-Policy', 'Retry-After']));
});

it('budgets survive a restart, request counts do not', async () => {
  const data = await mkdtemp(join(tmpdir(), 'parlance-limits-'));
  onTestFinished(() => rm(data, { recursive: true }));
  const keys = { app: { requestsPerMinute: 2, tokensPerDay: 15 } };
  const env = { DATA_DIR: data };
  {
    await using before = await startLimited(keys, { env });
    const api = createApi(before.url);
    expect((await api.post('/api/v1/chat', hello(), as('app'))).status).toBe(200);
    expect((await api.post('/api/v1/chat', hello('failing'), as('app'))).status).toBe(500);
  }
  expect(JSON.parse(await readFile(join(data, 'usage.json'), 'utf8'))).toMatchObject({
    version: 1,
    keys: { app: { audio_ms: 0, tokens: 17 } },
  });
  const { post, get } = await serve(keys, { env });
  expect((await post('/api/v1/chat', hello())).problem.code).toBe('quota-exceeded');
  expect((await get('/api/v1/models')).status).toBe(200);
});
