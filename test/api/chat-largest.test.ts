/** The largest valid chat works, and one character more is refused. Many at once: chat-largest.system.test.ts. */
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { largestBody } from '../../src/contract/body-limit.ts';
import { nativeContract } from '../../src/contract/document.ts';
import { createApi, type Answer, type Api } from '../support/http.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { encodings, escaped, json, largestChat, path, withoutEngines } from './support/largest-chat.ts';
import { connectRaw, requestHead } from './support/raw-socket.ts';

vi.setConfig({ testTimeout: 120_000 }); // hundreds of megabytes, however busy the machine is

describe('100 messages of 32,000 characters of four bytes', () => {
  let service: TestService;
  let api: Api;

  beforeAll(async () => {
    service = await startTestService(withoutEngines);
    api = createApi(service.url);
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const post = (body: Buffer): Promise<Answer> => api.send('POST', path, { headers: json, body });

  it.each(encodings)('pass validation $name', async ({ encode }) => {
    expect(await post(encode(largestChat()))).toMatchObject({ status: 503, problem: { code: 'no-engine' } });
  });

  it.each(encodings)('are rejected with one character more $name', async ({ encode }) => {
    const { status, problem } = await post(encode(largestChat({ extra: 1 })));
    expect(status).toBe(422);
    expect(problem.errors).toEqual([
      { in: 'body', pointer: '/messages/99/content', detail: 'must NOT have more than 32000 characters' },
    ]);
  });
});

describe('a body above the size limit', () => {
  let service: TestService;
  const limit = largestBody({ $ref: '#/components/schemas/ChatRequest' }, nativeContract);

  beforeAll(async () => {
    service = await startTestService(withoutEngines);
  });
  afterAll(() => service[Symbol.asyncDispose]());

  it('has a limit derived from the contract', () => {
    expect(nativeContract.document.components.schemas.ChatRequest).toBeDefined();
    expect(limit).toBeGreaterThan(escaped(largestChat()).length);
    expect(limit).toBeLessThan(escaped(largestChat()).length + 100_000);
  });

  it('is rejected by its Content-Length, before it is sent', async () => {
    using connection = await connectRaw(service.url);
    await connection.send(requestHead('POST', path, { ...json, 'content-length': limit + 1 }));
    const { status, problem } = await connection.answer('POST', path);
    expect(status).toBe(422);
    expect(problem.code).toBe('body-too-large');
    expect(problem.detail).toContain(String(limit));
  });

  it('is rejected by its Content-Length instead of a 100 Continue', async () => {
    using connection = await connectRaw(service.url);
    const headers = { ...json, 'content-length': limit + 1, expect: '100-continue' };
    await connection.send(requestHead('POST', path, headers));
    const { problem } = await connection.answer('POST', path);
    expect(problem.code).toBe('body-too-large');
    expect(connection.received).not.toContain('100 Continue');
  });

  it('is rejected at the limit when it is chunked', async () => {
    const api = createApi(service.url);
    const body = Buffer.alloc(limit + 1, ' ');
    const headers = { ...json, 'transfer-encoding': 'chunked' };
    const { status, problem } = await api.send('POST', path, { headers, body });
    expect(status).toBe(422);
    expect(problem.code).toBe('body-too-large');
  });

  it('is accepted at exactly the limit', async () => {
    const api = createApi(service.url);
    const chat = JSON.stringify({ messages: [{ role: 'user', content: 'Hello' }] });
    const body = Buffer.concat([Buffer.from(chat), Buffer.alloc(limit - chat.length, ' ')]);
    expect(await api.send('POST', path, { headers: json, body })).toMatchObject({ problem: { code: 'no-engine' } });
  });
});

describe('a client that keeps sending after the timeout', () => {
  it('holds no body memory', async () => {
    const body = Buffer.from(escaped(largestChat()));
    const two = 2 * body.length;
    const bodyBudget = { reserve: two, shared: two };
    await using service = await startTestService({ ...withoutEngines, bodyBudget, bodyTimeoutMs: 100 });
    const late = body.subarray(0, 1000);
    const sendLate = async (): Promise<number | undefined> => {
      const headers = { ...json, 'transfer-encoding': 'chunked' };
      const sending = request(`${service.url}${path}`, { method: 'POST', headers });
      sending.write(late);
      const [answer] = (await once(sending, 'response')) as [IncomingMessage];
      answer.resume();
      sending.end(body.subarray(late.length));
      await once(sending, 'close');
      return answer.statusCode;
    };
    for (let i = 0; i < 3; i++) expect(await sendLate()).toBe(408);

    using connection = await connectRaw(service.url);
    await connection.send(requestHead('POST', path, { ...json, 'content-length': body.length }));
    // It is waited for, and not refused as one too many.
    expect(await connection.answer('POST', path)).toMatchObject({ status: 408 });
  });
});
