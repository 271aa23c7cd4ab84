/** The engine within a whole service: what a client receives over HTTP. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { createClient, ParlanceError } from '../../../src/client/index.ts';
import { readStream } from '../../chat/support/stream.ts';
import { createApi } from '../../support/http.ts';
import { answers, startProvider, type Behavior } from '../../support/provider.ts';
import { startTestService } from '../../support/service.ts';
import { calls, chunk, key, secret, streams, usageChunk } from './support.ts';
const question = { messages: [{ role: 'user', content: 'What is the capital of France?' }] };
const paris = streams(
  chunk({ reasoning: 'Hm.' }),
  chunk({ content: 'Pa' }),
  chunk({ content: 'ris.' }),
  chunk({}, 'stop'),
  usageChunk(14, 3),
);

const parisWithTags = streams(
  ...['<think>Hm.', '</think>\n\nPa', 'ris.'].map((content) => chunk({ content })),
  chunk({}, 'stop'),
  usageChunk(14, 3),
);

const token = 'a-token-of-this-test-4711';
const withKeys = { API_KEYS: token };
const bearer = { authorization: `Bearer ${token}` };

async function start(behavior: Behavior, models = 'models: [remote]', env: Readonly<Record<string, string>> = {}) {
  const provider = await startProvider();
  provider.behave(behavior);
  const config = `engines: { cloud: { use: llm-agent, baseUrl: "${provider.baseUrl}", apiKey: "${key}", ${models} } }`;
  const service = await startTestService({ config, env });
  onTestFinished(() => service[Symbol.asyncDispose]());
  return { provider, service, api: createApi(service.url) };
}

describe('over HTTP', () => {
  test.each([
    ['in a field', paris],
    ['in the content', parisWithTags],
  ])('the response without streaming equals the last event of the stream; reasoning %s', async (_where, behavior) => {
    const { api, service } = await start(behavior);
    const { body } = await api.post('/api/v1/chat', question);
    expect(body).toEqual({
      ...{ content: 'Paris.', model: 'remote', finish_reason: 'stop', reasoning: 'Hm.' },
      usage: { prompt_tokens: 14, completion_tokens: 3, total_tokens: 17, reasoning_tokens: 0 },
    });
    const { events } = await readStream(service.url, question);
    expect(events.map(({ type }) => type)).toEqual([
      ...['chat.started', 'step.started', 'reasoning.delta', 'content.delta', 'chat.completed'],
    ]);
    expect(events.at(-1)).toMatchObject({ result: body });
  });

  describe('reasoning with a closing mark alone', () => {
    const texts = { reasoning: 'The user says hi. I should greet.', content: 'Hello there.' };
    const closed = streams(
      ...['The user says hi. ', 'I should greet.\n</thi', 'nk>\n', '\nHello there.'].map((content) =>
        chunk({ content }),
      ),
      chunk({}, 'stop'),
    );
    const v1 = { ...question, model: 'remote' };
    const asked = { model: 'remote', input: 'Hi.' };

    test('is apart in every answer without streaming, and in the last event of a stream', async () => {
      const { api, service } = await start(closed);
      expect((await api.post('/api/v1/chat', question)).body).toMatchObject(texts);
      const { body } = await api.post('/v1/chat/completions', v1);
      expect((body as { choices: object[] }).choices).toMatchObject([
        { message: { content: texts.content, reasoning_content: texts.reasoning } },
      ]);
      const response = (await api.post('/v1/responses', asked)).body;
      expect((response as { output: object[] }).output).toMatchObject([
        { type: 'reasoning', summary: [{ text: texts.reasoning }] },
        { type: 'message', content: [{ text: texts.content }] },
      ]);
      const { events } = await readStream(service.url, question);
      expect(events.at(-1)).toMatchObject({ result: texts });
    });

    test('is at most content in a stream, and the mark is not shown', async () => {
      const { api, service } = await start(closed);
      const { events } = await readStream(service.url, question);
      const deltas = events.flatMap((event) => (event.type === 'content.delta' ? [event.delta] : []));
      expect(deltas.join('')).toMatch(/^(The user says hi\. )?(I should greet\.\s)?Hello there\.$/);
      for (const [path, body] of [
        ['/v1/chat/completions', v1],
        ['/v1/responses', asked],
      ] as const) {
        const { text } = await api.post(path, { ...body, stream: true });
        expect(text).toContain('Hello there.');
        expect(text).not.toMatch(/<\/?thi|nk>/);
      }
    });
  });

  test('null means the default, for every optional field', async () => {
    const { api, provider } = await start(paris);
    await api.post('/api/v1/chat', { ...question, model: null, temperature: null, max_tokens: null, top_p: null });
    await api.post('/api/v1/chat', { ...question, temperature: 0, max_tokens: 1, top_p: 1 });
    const [without, with0] = (await Promise.all(provider.calls.map(({ body }) => body))).map(
      (body) => JSON.parse(String(body)) as object,
    );
    expect(Object.keys(without!)).not.toEqual(expect.arrayContaining(['temperature']));
    expect(with0).toMatchObject({ temperature: 0, max_tokens: 1, top_p: 1 });
  });

  test('an unknown model is rejected with the known ids, before any upstream call', async () => {
    const { api, provider } = await start(paris);
    const { status, problem } = await api.post('/api/v1/chat', { ...question, model: 'nosuch' });
    expect({ status, code: problem.code }).toEqual({ status: 422, code: 'unknown-model' });
    expect(problem.detail).toContain('remote');
    expect(provider.calls).toHaveLength(0);
  });

  test('discovered models are listed with the instance name as prefix', async () => {
    const models = answers(200, { data: [{ id: 'llama3.2' }] });
    const { api } = await start((call) => (call.path.endsWith('/models') ? models : paris)(call), 'local: true');
    // A listing waits for the first list, but not as long as a busy machine may need.
    await expect
      .poll(async () => (await api.get('/api/v1/models')).body)
      .toMatchObject({
        data: [{ id: 'cloud/llama3.2', name: 'cloud/llama3.2', engine: 'cloud', local: true, available: true }],
        default: 'cloud/llama3.2',
      });
    expect((await api.post('/api/v1/chat', question)).body).toMatchObject({ model: 'cloud/llama3.2' });
  });

  test.each([
    [429, '20', answers(429, { error: { message: secret } }, { 'retry-after': '20' }), 'provider-rate-limited'],
    [429, '1', answers(429, { error: { message: secret } }), 'provider-rate-limited'],
    [502, null, answers(401, { error: { message: `${secret} ${key}` } }), 'provider-auth-failed'],
    [422, null, answers(400, { error: { code: 'context_length_exceeded' } }), 'context-length-exceeded'],
    [502, null, streams({ error: { message: `${secret} ${key}` } }), 'provider-error'],
  ])(
    'a failure is a %i (Retry-After: %s) in both variants, and in the log without the key',
    async (status, retryAfter, behavior, code) => {
      const { api, service } = await start(behavior, undefined, withKeys);
      for (const path of ['/api/v1/chat', '/api/v1/chat/stream']) {
        const answer = await api.post(path, question, bearer);
        expect({ status: answer.status, code: answer.problem.code }).toEqual({ status, code });
        expect(answer.headers.get('retry-after')).toBe(retryAfter);
        expect(answer.text).not.toContain(secret);
      }
      const log = JSON.stringify(service.log);
      expect(log).toContain(code);
      expect(log).not.toContain(key);
    },
  );

  describe('what the provider said', () => {
    const answering = answers(400, { error: { message: `No ${key},\u001b[2J\n<b>${'no '.repeat(4_000)}` } });
    const said = / The provider said: "No \[key\], \[2J <b>(no )+.{0,3}…"\.$/;
    const told = async (env: Readonly<Record<string, string>>, headers = {}, behavior: Behavior = answering) => {
      const { api, service } = await start(behavior, undefined, env);
      const native = await api.post('/api/v1/chat', question, headers);
      const v1 = { ...question, model: 'remote' };
      const { body } = await api.post('/v1/chat/completions', v1, headers);
      const { error } = body as { error: { message: string } };
      return { details: [native.problem.detail, error.message], service };
    };

    test('reaches the operator of a service that is open to its own machine, without keys and on one line', async () => {
      const { details } = await told({});
      for (const detail of details) expect(detail).toMatch(said);
    });

    test('is in chat.failed, too', async () => {
      const call = calls({ name: 'somebody__something', args: '{}' });
      const { service, provider } = await start(call);
      provider.behave(call, streams({ error: { message: 'out of memory' } }));
      const { events } = await readStream(service.url, question);
      const detail = 'The provider failed during its response. The provider said: "out of memory".';
      expect(events.at(-1)).toMatchObject({ type: 'chat.failed', problem: { detail } });
    });

    test.each([
      ['with keys', withKeys, bearer],
      ['with ALLOW_OPEN', { ALLOW_OPEN: 'true' }, {}],
      ['behind a proxy', { TRUST_PROXY: '1' }, {}],
    ])('reaches no server %s', async (_when, env, headers) => {
      const { details } = await told(env, headers);
      expect(details).toEqual(['The provider rejected the request.', 'The provider rejected the request.']);
    });
  });

  test.each([
    ['from the provider', { 'retry-after': '20' }, 20],
    ['one second if the provider sends none', {}, 1],
  ])('chat.failed contains retry_after: %s', async (_what, headers, seconds) => {
    const name = 'somebody__something';
    const { service, provider } = await start(calls({ name, args: '{}' }));
    provider.behave(calls({ name, args: '{}' }), answers(429, { error: { message: secret } }, headers));
    const { answer, events } = await readStream(service.url, question);
    expect(answer.status).toBe(200);
    const problem = { status: 429, code: 'provider-rate-limited', retry_after: seconds };
    expect(events.at(-1)).toMatchObject({ type: 'chat.failed', problem });
    const client = createClient({ baseUrl: service.url });
    provider.behave(calls({ name, args: '{}' }), answers(429, { error: { message: secret } }, headers));
    for await (const event of client.streamChat({ messages: [{ role: 'user', content: 'Hello' }] })) {
      if (event.type !== 'chat.failed') continue;
      expect(ParlanceError.fromProblem(event.problem)).toMatchObject({ status: 429, retryAfter: seconds });
      return;
    }
    expect.unreachable('the stream has no chat.failed');
  });

  test('a failure after the first event is chat.failed', async () => {
    const { service } = await start(streams(chunk({ content: 'Pa' })));
    const { events } = await readStream(service.url, question);
    expect(events.at(-1)).toMatchObject({
      type: 'chat.failed',
      problem: { status: 502, code: 'provider-bad-response' },
    });
  });
});
