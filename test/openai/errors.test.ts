/** Failures of requests under /v1, from each place where one can happen. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import OpenAI, { APIError } from 'openai';
import { describe, expect, it, onTestFinished } from 'vitest';
import { problemAnswer, ProblemError } from '../../src/contract/problems.ts';
import { sendEvents } from '../../src/http/sse.ts';
import { openaiFormat } from '../../src/openai/format.ts';
import { createApi } from '../support/http.ts';
import { startTestService } from '../support/service.ts';
import { connectRaw, requestHead } from '../api/support/raw-socket.ts';
import { engines } from './support/engines.ts';

const json = { 'content-type': 'application/json' };

describe('a body', () => {
  it('of another content type is 415', async () => {
    await using service = await startTestService(engines);
    const call = { headers: { 'content-type': 'text/plain' }, body: '{}' };
    const { status, error } = await createApi(service.url).send('POST', '/v1/chat/completions', call);
    expect(status).toBe(415);
    expect(error).toMatchObject({ code: 'unsupported_media_type', param: null });
  });

  it('in JSON is 415 where a form is expected, and the message says so', async () => {
    await using service = await startTestService(engines);
    const { status, error } = await createApi(service.url).post('/v1/audio/transcriptions', { model: 'local' });
    expect(status).toBe(415);
    expect(error.message).toContain('multipart/form-data');
  });

  it('that is not JSON is 400', async () => {
    await using service = await startTestService(engines);
    const call = { headers: json, body: '{' };
    const { status, error } = await createApi(service.url).send('POST', '/v1/audio/speech', call);
    expect(status).toBe(400);
    expect(error).toMatchObject({ type: 'invalid_request_error', code: 'malformed_body' });
  });

  it('over 40 MB is 413 before it is sent', async () => {
    await using service = await startTestService(engines);
    const connection = await connectRaw(service.url);
    const length = String(40 * 1024 * 1024 + 1);
    await connection.send(requestHead('POST', '/v1/chat/completions', { ...json, 'content-length': length }));
    await expect.poll(() => connection.received).toContain('"code":"body_too_large"');
    expect(connection.received).toMatch(/^HTTP\/1\.1 413 /);
    connection[Symbol.dispose]();
  });

  it('nested deeper than 64 levels is 400', async () => {
    await using service = await startTestService(engines);
    const deep = (levels: number) => `{"input":"x","other":${'['.repeat(levels)}${']'.repeat(levels)}}`;
    const send = (levels: number) =>
      createApi(service.url).send('POST', '/v1/audio/speech', { headers: json, body: deep(levels) });
    expect((await send(64)).error.message).toMatch(/nest|deep|depth/);
    expect((await send(63)).error.message).not.toMatch(/nest|deep|depth/);
  });

  it.each([
    ['calls of tools', { messages: [{ role: 'assistant', tool_calls: Array(20_000).fill({}) }] }, 'tool_calls[0].id'],
    ['parts of a message', { messages: [{ role: 'user', content: Array(20_000).fill({}) }] }, 'content[0].type'],
  ])('is 400 for its first violation, and no others are looked for: %s', async (_what, body, place) => {
    await using service = await startTestService(engines);
    const answer = await createApi(service.url).send('POST', '/v1/chat/completions', {
      headers: json,
      body: JSON.stringify(body),
    });
    expect(answer.status).toBe(400);
    const param = `messages[0].${place}`;
    expect(answer.error).toMatchObject({ param, message: `${param} is missing` });
  });

  it('that does not arrive is 408 and must not be retried', async () => {
    await using service = await startTestService({ ...engines, bodyTimeoutMs: 50 });
    const connection = await connectRaw(service.url);
    await connection.send(requestHead('POST', '/v1/audio/speech', { ...json, 'content-length': '10' }));
    await expect.poll(() => connection.received).toContain('"code":"request_timeout"');
    expect(connection.received).toMatch(/^HTTP\/1\.1 408 .*X-Should-Retry: false\r\n/s);
    connection[Symbol.dispose]();
  });

  it('without Content-Length is read', async () => {
    await using service = await startTestService(engines);
    const connection = await connectRaw(service.url);
    await connection.send(requestHead('POST', '/v1/audio/speech', { ...json, 'transfer-encoding': 'chunked' }));
    await connection.send('c\r\n{"input":""}\r\n0\r\n\r\n');
    await expect.poll(() => connection.received).toContain('"param":"input"');
    connection[Symbol.dispose]();
  });
});

/** A server whose only answer is this stream, in the format of the API. */
async function serveStream(events: AsyncIterable<unknown>, heartbeatMs = 60_000): Promise<string> {
  const { stream: format } = openaiFormat;
  const serve = (_req: IncomingMessage, res: ServerResponse) => {
    res.setHeader('Content-Type', 'text/event-stream');
    void sendEvents(res, {
      events,
      format,
      signal: new AbortController().signal,
      heartbeatMs,
      encodeFailure: (reason, last) => format.encodeFailure(problemAnswer(reason, 'an-id'), { reason, last }),
    });
  };
  const server = createServer(serve).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const chunk = (content: string) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta: { content }, finish_reason: null }],
});

// eslint-disable-next-line @typescript-eslint/require-await -- streams take async iterables
async function* chunksThen(end?: Error) {
  yield chunk('Hel');
  yield chunk('lo');
  if (end) throw end;
}

/** What the openai SDK makes of a stream: the text so far, and its error. */
async function readBySdk(url: string): Promise<{ text: string; error?: unknown }> {
  let text = '';
  try {
    const client = new OpenAI({ baseURL: url, apiKey: 'none', maxRetries: 0 });
    const stream = await client.chat.completions.create({ model: 'm', messages: [], stream: true });
    for await (const { choices } of stream) text += choices[0]?.delta.content ?? '';
    return { text };
  } catch (error) {
    return { text, error };
  }
}

describe('a stream', () => {
  it('is bare data lines and ends with [DONE]', async () => {
    const url = await serveStream(chunksThen());
    const text = await (await fetch(url)).text();
    expect(text).toBe(
      `data: ${JSON.stringify(chunk('Hel'))}\n\ndata: ${JSON.stringify(chunk('lo'))}\n\ndata: [DONE]\n\n`,
    );
  });

  it('is read by the openai SDK', async () => {
    expect(await readBySdk(await serveStream(chunksThen()))).toEqual({ text: 'Hello' });
  });

  it('that fails ends with the error and without [DONE]', async () => {
    const url = await serveStream(chunksThen(new ProblemError('provider-error', 'It failed.')));
    const text = await (await fetch(url)).text();
    const error = { message: 'It failed.', type: 'server_error', param: null, code: 'provider_error' };
    expect(text.endsWith(`data: ${JSON.stringify({ error })}\n\n`)).toBe(true);
    expect(text).not.toContain('[DONE]');
  });

  it('that fails is an APIError of the SDK', async () => {
    const { text, error } = await readBySdk(
      await serveStream(chunksThen(new ProblemError('provider-error', 'It failed.'))),
    );
    expect(text).toBe('Hello');
    expect(error).toBeInstanceOf(APIError);
    expect(error).toMatchObject({ code: 'provider_error', type: 'server_error' });
  });

  it('has comments as heartbeats, which the SDK skips', async () => {
    const { promise: enough, resolve } = Promise.withResolvers<undefined>();
    const slow = async function* () {
      yield chunk('Hel');
      await enough;
      yield chunk('lo');
    };
    const url = await serveStream(slow(), 1);
    const { body } = await fetch(url);
    let text = '';
    for await (const piece of body!.pipeThrough(new TextDecoderStream())) {
      text += piece;
      if (text.includes(': keep-alive\n\n')) resolve(undefined);
    }
    expect(text.replaceAll(': keep-alive\n\n', '')).toMatch(/^data: .*\n\ndata: .*\n\ndata: \[DONE\]\n\n$/);
  });
});

it('a shutdown is 503, and may be retried', async () => {
  const service = await startTestService(engines);
  await using _ended = service;
  const connection = await connectRaw(service.url);
  const headers = { ...json, 'content-length': '10', expect: '100-continue' };
  await connection.send(requestHead('POST', '/v1/audio/speech', headers));
  await expect.poll(() => connection.received).toContain('100 Continue'); // its body is awaited
  const stopped = service.service.stop(0);
  await expect.poll(() => connection.received).toContain('"code":"shutting_down"');
  expect(connection.received).toMatch(/HTTP\/1\.1 503 .*Retry-After: 5\r\n/s);
  expect(connection.received).toContain('X-Should-Retry: true\r\n');
  connection[Symbol.dispose]();
  await stopped;
});
