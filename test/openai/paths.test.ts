/** What the service answers to paths under /v1: no catch-all, and no 200 that apps take for another server. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApi } from '../support/http.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { connectRaw, requestHead } from '../api/support/raw-socket.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ env: { PARLANCE_SANDBOX: '1' } });
});
afterAll(() => service[Symbol.asyncDispose]());

const send = (method: string, path: string) => createApi(service.url).send(method, path);

it('GET lists the models, however many slashes the path has', async () => {
  expect(await send('GET', '//v1//models/')).toMatchObject({ status: 200, body: { object: 'list' } });
});

it.each(['/v1', '/v1/', '/v1/readyz', '/v1/test', '/v1/health', '/v1/responses/resp_1', '/v1/audio/translation'])(
  'GET and POST %s are 404',
  async (path) => {
    for (const method of ['GET', 'POST']) {
      const { status, error } = await send(method, path);
      expect(status).toBe(404);
      expect(error).toMatchObject({ type: 'invalid_request_error', code: 'unknown_url', param: null });
    }
  },
);

it.each([
  ['/v1/completions', 'use /v1/chat/completions'],
  ['/v1/embeddings', 'use another service for it'],
  ['/v1/images/generations', 'use another service for it'],
  ['/v1/files/file_1', 'use another service for it'],
  ['/v1/responses/resp_1', 'send the whole conversation to /v1/responses'],
  ['/v1/v1/models', 'already ends in /v1'],
])('%s is 404 and says what to do', async (path, hint) => {
  const { status, error } = await send('POST', path);
  expect(status).toBe(404);
  expect(error).toMatchObject({ code: 'unknown_url', message: expect.stringContaining(hint) as string });
});

it('a path with invalid percent-encoding is 404', async () => {
  expect((await send('GET', '/v1/models/%zz')).error.code).toBe('unknown_url');
});

describe('a method', () => {
  it('HEAD is answered as GET, without a body', async () => {
    expect(await send('HEAD', '/v1/models')).toMatchObject({ status: 200, text: '' });
    expect(await send('HEAD', '/v1/nowhere')).toMatchObject({ status: 404, text: '' });
  });

  it.each([
    ['DELETE', '/v1/models', 'GET, HEAD'],
    ['OPTIONS', '/v1/models', 'GET, HEAD'],
    ['GET', '/v1/chat/completions', 'POST'],
    ['GET', '/v1/responses', 'POST'],
    ['POST', '/v1/models/some', 'GET, HEAD'],
  ])('%s %s is 405 with what is allowed', async (method, path, allow) => {
    const { status, headers } = await send(method, path);
    expect(status).toBe(405);
    expect(headers.get('allow')).toBe(allow);
  });
});

it.each([
  ['that is not HTTP', 'GET /v1/models HTTP/1.1\r\nHost: a\r\nbad header\r\n\r\n', 400, 'malformed_request'],
  ['with a rejected head', requestHead('GET', '/v1/models', { expect: 'miracles' }), 417, 'expectation_failed'],
])('a request %s is answered in the error format of the API', async (_what, head, status, code) => {
  using connection = await connectRaw(service.url);
  await connection.send(head);
  await expect.poll(() => connection.received).toContain(`"code":"${code}"`);
  expect(connection.received).toMatch(new RegExp(`^HTTP/1\\.1 ${status} .*X-Should-Retry: false\\r\\n`, 's'));
});
