/** Failures of requests under /v1 before their handler. test/openai/chat has those of streams. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApi } from '../support/http.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { connectRaw, requestHead } from '../api/support/raw-socket.ts';
import { engines } from './support/engines.ts';

const json = { 'content-type': 'application/json' };

let service: TestService;
beforeAll(async () => {
  service = await startTestService(engines);
});
afterAll(() => service[Symbol.asyncDispose]());

describe('a body', () => {
  const post = (path: string, body: string, type = 'application/json') =>
    createApi(service.url).send('POST', path, { headers: { 'content-type': type }, body });
  const many = (message: object) => JSON.stringify({ messages: [message] });
  const place = (param: string) => ({ param, message: `${param} is missing` });

  it.each<[string, number, string, string, object]>([
    [
      'of another content type',
      415,
      '/v1/chat/completions',
      'text/plain',
      { code: 'unsupported_media_type', param: null },
    ],
    [
      'that is not a form',
      415,
      '/v1/audio/transcriptions',
      '{}',
      { message: expect.stringContaining('multipart/form-data') as string },
    ],
    ['that is not JSON', 400, '/v1/audio/speech', '{', { type: 'invalid_request_error', code: 'malformed_body' }],
    // The first violation ends the check.
    [
      'with many wrong calls of tools',
      400,
      '/v1/chat/completions',
      many({ role: 'assistant', tool_calls: Array(20_000).fill({}) }),
      place('messages[0].tool_calls[0].id'),
    ],
    [
      'with many wrong parts',
      400,
      '/v1/chat/completions',
      many({ role: 'user', content: Array(20_000).fill({}) }),
      place('messages[0].content[0].type'),
    ],
  ])('%s is %i', async (_what, status, path, body, error) => {
    expect(await (body === 'text/plain' ? post(path, '{}', body) : post(path, body))).toMatchObject({ status, error });
  });

  it('over 40 MB is 413 before it is sent', async () => {
    using connection = await connectRaw(service.url);
    const length = String(40 * 1024 * 1024 + 1);
    await connection.send(requestHead('POST', '/v1/chat/completions', { ...json, 'content-length': length }));
    const answer = await connection.answer('POST', '/v1/chat/completions');
    expect(answer).toMatchObject({ status: 413, error: { code: 'body_too_large' } });
  });

  it('nested deeper than 64 levels is 400', async () => {
    const nested = (levels: number) =>
      post('/v1/audio/speech', `{"input":"x","other":${'['.repeat(levels)}${']'.repeat(levels)}}`);
    expect((await nested(64)).error.message).toMatch(/nest|deep|depth/);
    expect((await nested(63)).error.message).not.toMatch(/nest|deep|depth/);
  });

  it('without Content-Length is read', async () => {
    using connection = await connectRaw(service.url);
    await connection.send(requestHead('POST', '/v1/audio/speech', { ...json, 'transfer-encoding': 'chunked' }));
    await connection.send('c\r\n{"input":""}\r\n0\r\n\r\n');
    await expect.poll(() => connection.received).toContain('"param":"input"');
  });
});

it('a shutdown is 503, and may be retried', async () => {
  await using ending = await startTestService(engines);
  using connection = await connectRaw(ending.url);
  const headers = { ...json, 'content-length': '10', expect: '100-continue' };
  await connection.send(requestHead('POST', '/v1/audio/speech', headers));
  await expect.poll(() => connection.received).toContain('100 Continue'); // its body is awaited
  const stopped = ending.service.stop(0);
  await expect.poll(() => connection.received).toContain('"code":"shutting_down"');
  expect(connection.received).toMatch(/HTTP\/1\.1 503 .*Retry-After: 5\r\n/s);
  expect(connection.received).toContain('X-Should-Retry: true\r\n');
  await stopped;
});
