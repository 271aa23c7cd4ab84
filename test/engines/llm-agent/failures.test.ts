/**
 * Failures of a provider as the caller and the log see them: one of each kind, and all that this engine words itself.
 * test/engines/lib/provider has the whole table.
 */
import { createServer, type AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { EngineError, type AgentEvent, type EngineErrorCode } from '../../../engines/contract/index.ts';
import { problems } from '../../../src/contract/problem-table.ts';
import { answers, resets, says as saysRaw, type Behavior } from '../../support/provider.ts';
import {
  chunk,
  key,
  openAgent,
  says,
  secret,
  sends,
  stallsAfter,
  startAgent,
  streams,
  streamsOnly,
} from './support.ts';

interface Failure {
  readonly name: string;
  readonly says: Behavior;
  readonly code: EngineErrorCode;
  readonly status: number;
  readonly retryAfter?: number;
  /** 1 unless the call is retried. */
  readonly calls?: number;
}

const openai = (status: number, error: object, headers?: Readonly<Record<string, string>>) =>
  answers(status, { error: { message: secret, type: 'x', param: null, code: null, ...error } }, headers);
const hi = chunk({ content: 'Hi.' });

/** Closes the connection in the middle of a stream. */
const breaksAfter =
  (...events: readonly object[]): Behavior =>
  async (call) => {
    await stallsAfter(...events)(call);
    call.socket.end();
  };

const table: readonly Failure[] = [
  // -------------------------------------------------------------------------------------------- quota and rate
  {
    ...{ name: '429 with Retry-After', code: 'provider-rate-limited', status: 429, retryAfter: 20 },
    says: openai(429, {}, { 'retry-after': '20' }),
  },
  // ------------------------------------------------------------------------------------------------------- keys
  {
    ...{ name: '401', code: 'provider-auth-failed', status: 502 },
    says: openai(401, { message: `Incorrect API key provided: ${key}` }),
  },
  // ------------------------------------------------------------------------------------------------ the request
  {
    ...{ name: '400 context_length_exceeded (OpenAI)', code: 'context-length-exceeded', status: 422 },
    says: openai(400, {
      code: 'context_length_exceeded',
      message: "This model's maximum context length is 8192 tokens.",
    }),
  },
  {
    ...{ name: '400 parameter refused', code: 'provider-rejected-request', status: 422 },
    says: openai(400, { code: 'unsupported_value', param: 'temperature', message: `temperature ${secret}` }),
  },
  {
    ...{ name: 'a redirect, which is not followed', code: 'provider-misconfigured', status: 502 },
    says: answers(307, '', { location: 'http://127.0.0.1:9/v1/chat/completions' }),
  },
  // --------------------------------------------------------------------------------------------------- failures
  { name: '503', says: answers(503, secret), code: 'provider-overloaded', status: 503, calls: 3 },
  { name: '500', says: openai(500, { message: `kaput ${key}` }), code: 'provider-error', status: 502 },
  {
    name: '200 with an error',
    says: answers(200, { error: { message: secret } }),
    code: 'provider-error',
    status: 502,
  },
  {
    ...{ name: '200 with an error that is a string', code: 'provider-error', status: 502 },
    says: answers(200, { error: `${secret} ${key}` }),
  },
  // -------------------------------------------------------------------------------------------- inside a stream
  {
    ...{ name: 'an error as the first event', code: 'provider-error', status: 502 },
    says: streamsOnly({ error: { message: `${secret} ${key}`, code: 500 } }),
  },
  {
    ...{ name: 'an error inside the stream', code: 'provider-error', status: 502 },
    says: streams(hi, { error: { message: secret, code: 'server_error' } }),
  },
  {
    ...{ name: 'an error beside a chunk (OpenRouter)', code: 'provider-error', status: 502 },
    says: streams(hi, chunk({ content: '' }, 'error', { error: { code: 'server_error', message: secret } })),
  },
  {
    ...{ name: 'an event named error', code: 'provider-error', status: 502 },
    says: streamsOnly(hi, `event: error\ndata: {"message":"${secret}"}\n\n`),
  },
  { name: 'finish_reason error', says: streams(hi, chunk({}, 'error')), code: 'provider-error', status: 502 },
  {
    ...{ name: 'finish_reason insufficient_system_resource', code: 'provider-overloaded', status: 503 },
    says: streams(hi, chunk({}, 'insufficient_system_resource')),
  },
  { name: 'no finish_reason', says: streams(hi), code: 'provider-bad-response', status: 502 },
  { name: 'only [DONE]', says: streams(), code: 'provider-bad-response', status: 502 },
  {
    ...{ name: 'calls without an end', code: 'provider-bad-response', status: 502 },
    says: streamsOnly(chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'weather', arguments: '{}' } }] })),
  },
  {
    ...{ name: 'an announced tool call that does not come', code: 'provider-bad-response', status: 502 },
    says: streams(chunk({}, 'tool_calls')),
  },
  {
    name: 'half an event',
    says: sends(`data: ${JSON.stringify(chunk({}, 'stop')).slice(0, -1)}`),
    code: 'provider-bad-response',
    status: 502,
  },
  {
    name: 'bad JSON',
    says: streams(hi, `data: {"choices":[${secret}\n\n`),
    code: 'provider-bad-response',
    status: 502,
  },
  {
    name: 'JSON that is not an object',
    says: streams('data: [1]\n\n', chunk({}, 'stop')),
    code: 'provider-bad-response',
    status: 502,
  },
  { name: 'the end in mid-stream', says: breaksAfter(hi), code: 'provider-bad-response', status: 502 },
  {
    ...{ name: 'arguments that never end', code: 'provider-bad-response', status: 502 },
    says: streams(
      ...Array.from({ length: 30 }, () =>
        chunk({ tool_calls: [{ index: 0, function: { arguments: 'x'.repeat(50_000) } }] }),
      ),
    ),
  },
  {
    ...{ name: 'too many calls', code: 'provider-bad-response', status: 502 },
    says: streams(
      chunk({ tool_calls: Array.from({ length: 200 }, (_, index) => ({ index, function: { name: 'x' } })) }),
      chunk({}, 'stop'),
    ),
  },
  // ----------------------------------------------------------------------------------------------- no stream
  { name: '200 with HTML', says: answers(200, `<!doctype html>${secret}`), code: 'provider-bad-response', status: 502 },
  { name: '200 with nothing', says: answers(200, ''), code: 'provider-bad-response', status: 502 },
  { name: '204', says: saysRaw('HTTP/1.1 204 No Content\r\n\r\n'), code: 'provider-bad-response', status: 502 },
  { name: '200 without choices', says: answers(200, { id: 'x' }), code: 'provider-bad-response', status: 502 },
  { name: '200 with no choice', says: answers(200, { choices: [] }), code: 'provider-bad-response', status: 502 },
  {
    name: '200 cut in its JSON',
    says: answers(200, `{"choices":[{"${secret}`),
    code: 'provider-bad-response',
    status: 502,
  },
  {
    name: '200 in gzip, which was not asked for',
    says: answers(200, '\x1f\x8b\b', { 'content-encoding': 'gzip' }),
    code: 'provider-bad-response',
    status: 502,
  },
  { name: 'a reset', says: resets, code: 'provider-unreachable', status: 502, calls: 3 },
];

describe('a failure', () => {
  test.each(table)('$name is $code', async (row) => {
    const { name, says: behavior, code, status, retryAfter, calls = 1 } = row;
    const { ask, provider } = await startAgent(behavior);
    const error: unknown = await ask().catch((thrown: unknown) => thrown);
    if (!EngineError.is(error)) throw new Error(`no EngineError: ${inspect(error)}`);
    expect({ code: error.code, retryAfter: error.retryAfter }).toEqual({ code, retryAfter });
    expect(problems[code].status).toBe(status);
    expect(provider.calls).toHaveLength(calls);
    if (name.includes('HTML')) expect(error.message).toContain('an HTML page');
    // The client receives nothing of the provider's text; the log has it, without the key.
    expect(error.message).not.toMatch(/internal-host|sk-very|Incorrect|maximum|127\.0\.0\.1/);
    expect(inspect(error, { depth: 10 })).not.toContain(key);
    // The engine still works.
    provider.behave(says('Hi.'));
    expect((await ask()).content).toBe('Hi.');
  });

  test('is in the log with the words of the provider', async () => {
    const { ask } = await startAgent(answers(500, `kaput on ${secret}`));
    await expect(ask()).rejects.toMatchObject({ cause: { message: `cloud answered 500: kaput on ${secret}` } });
  });

  test('after the first deltas does not retract them', async () => {
    const { events, provider } = await startAgent(stallsAfter(hi));
    const seen: string[] = [];
    const reading = async () => {
      for await (const { type } of events()) {
        seen.push(type);
        if (type === 'content-delta') provider.calls[0]!.socket.resetAndDestroy();
      }
    };
    await expect(reading()).rejects.toMatchObject({ code: 'provider-bad-response' });
    expect(seen).toEqual(['step-started', 'content-delta']);
  });

  test('of the connection after finish_reason is ignored', async () => {
    const { events, provider } = await startAgent(stallsAfter(hi, chunk({}, 'stop')));
    let last: AgentEvent | undefined;
    for await (const event of events()) {
      last = event;
      if (event.type === 'content-delta') provider.calls[0]!.socket.resetAndDestroy();
    }
    expect(last).toMatchObject({ result: { content: 'Hi.', finishReason: 'stop' } });
  });
});

describe('a provider', () => {
  test('is unreachable when nothing listens on the port', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const { ask, models } = await openAgent({ baseUrl: `http://127.0.0.1:${port}/v1`, models: ['remote'] });
    await expect(ask()).rejects.toMatchObject({ code: 'provider-unreachable' });
    expect(models()[0]!.availability).toMatchObject({ available: true, code: 'upstream-unreachable' });
  });

  test('because it has no key', async () => {
    const { ask, models, provider } = await startAgent(says('Hi.'), { apiKey: '' });
    expect(models()[0]!.availability).toMatchObject({ available: false, code: 'key-missing' });
    await expect(ask()).rejects.toMatchObject({ code: 'model-unavailable' });
    expect(provider.calls).toHaveLength(0);
  });
});

test('a rejected key is reported as key-refused until it is accepted', async () => {
  const { ask, models, recheck, provider } = await startAgent(answers(401, ''));
  await expect(ask()).rejects.toThrow();
  expect(models()[0]!.availability).toMatchObject({ available: false, code: 'key-refused' });
  provider.behave(says('Hi.'));
  await ask();
  await recheck();
  expect(models()[0]!.availability).toMatchObject({ available: true, code: 'ready' });
});

describe('a retry', () => {
  test.each([
    { name: 'a reset', first: resets },
    { name: '503', first: answers(503, '') },
  ])('follows $name before the first byte', async ({ first }) => {
    const { ask, provider } = await startAgent([first, says('Hi.')]);
    expect((await ask()).content).toBe('Hi.');
    const [one, two] = await Promise.all(provider.calls.map(({ body }) => body));
    expect(two).toEqual(one);
  });
});
