/** Interim responses: `102 Processing` to the clients that wait no longer without, and to no other. */
import { connect } from 'node:net';
import { once } from 'node:events';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { multipart, multipartType, recording } from '../api/support/forms.ts';
import { formOf } from '../jobs/support/jobs.ts';
import { hookEngine, speechOf, textOf, wordEngine } from '../jobs/support/speech.ts';
import { startTestService, type TestService } from '../support/service.ts';

/** Timeouts of undici are not exact: the least is about a second. */
const [interimMs, impatientMs, heldMs] = [200, 1_000, 3_000];

let service: TestService;
let hook: Disposable;
beforeAll(async () => {
  service = await start();
  hook = hookEngine(() => new Promise((resolve) => setTimeout(resolve, heldMs)));
});
afterAll(async () => {
  hook[Symbol.dispose]();
  await service[Symbol.asyncDispose]();
});

function start(env: Readonly<Record<string, string>> = {}): Promise<TestService> {
  const config = 'engines: { words: { use: ./words.mjs, slots: 16 } }\n';
  return startTestService({ ...wordEngine, config, interimMs, env });
}

/** All bytes of the answer to a transcription, of a client that writes these headers. */
async function answerTo(headers: Readonly<Record<string, string>>, version = '1.1', path = ''): Promise<string> {
  const body = multipart({ ...recording, value: speechOf(2) });
  const lines = Object.entries({ ...multipartType, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  const { port } = new URL(service.url);
  const socket = connect(Number(port), '127.0.0.1');
  let text = '';
  socket.setEncoding('latin1').on('data', (piece: string) => (text += piece));
  socket.write(
    `POST /api/v1/transcribe${path} HTTP/${version}\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\nContent-Length: ${body.length}\r\n${lines.join('')}\r\n`,
  );
  socket.write(body);
  await once(socket, 'close');
  return text;
}

/** Node's own fetch, as it is after 300 s. */
async function impatientFetch(): Promise<typeof fetch> {
  await fetch(`${service.url}/healthz`); // from then on, its dispatcher is there
  const { [dispatcherName]: usual } = globalThis as unknown as Record<symbol, { constructor: unknown }>;
  const Agent = usual?.constructor as new (options: object) => object;
  const dispatcher = new Agent({ headersTimeout: impatientMs });
  return (url, init) => fetch(url, { ...init, dispatcher } as RequestInit);
}

const dispatcherName = Symbol.for('undici.globalDispatcher.1');

describe.concurrent('a client that gives up without a head', () => {
  const post = { method: 'POST', body: formOf(speechOf(2)) };

  test('gets its answer: fetch of Node.js', async () => {
    const send = await impatientFetch();
    const answer = await send(`${service.url}/api/v1/transcribe`, post);
    expect(await answer.json()).toMatchObject({ text: textOf(2) });
  });

  test('gets its answer: the SDK of OpenAI', async () => {
    const send = await impatientFetch();
    const client = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: 'none', fetch: send, maxRetries: 0 });
    const file = new File([new Uint8Array(speechOf(2))], 'memo.wav');
    expect((await client.audio.transcriptions.create({ file, model: 'words' })).text).toBe(textOf(2));
  });

  test('gets none where INTERIM_RESPONSES is off', async () => {
    const send = await impatientFetch();
    await using without = await start({ INTERIM_RESPONSES: 'off' });
    const answer = send(`${without.url}/api/v1/transcribe`, post);
    await expect(answer).rejects.toMatchObject({ cause: { code: 'UND_ERR_HEADERS_TIMEOUT' } });
  });
});

describe.concurrent('a 102', () => {
  test('goes to a client that needs it', async () => {
    const text = await answerTo({ 'User-Agent': 'node' });
    expect(text).toMatch(/^(HTTP\/1\.1 102 Processing\r\n\r\n)+HTTP\/1\.1 200 OK\r\n/);
  });

  test.each([
    ['a client like that of Python', { 'User-Agent': 'python-requests/2.32.3' }],
    ['a client without a name', {}],
    ['a name that only looks like it', { 'User-Agent': 'node-fetch/1.0' }],
    ['a proxy', { 'User-Agent': 'node', 'X-Forwarded-For': '10.0.0.1' }],
    ['a proxy with the header of RFC 7239', { 'User-Agent': 'node', Forwarded: 'for=10.0.0.1' }],
    ['a proxy that is in the way', { 'User-Agent': 'undici', Via: '1.1 proxy' }],
    ['nginx', { 'User-Agent': 'OpenAI/JS 7.55.0', 'X-Real-IP': '10.0.0.1' }],
    ['Cloudflare', { 'User-Agent': 'node', 'CF-Ray': '1' }],
  ])('does not go to %s', async (_who, headers) => {
    const text = await answerTo(headers);
    expect(text).not.toContain(' 102 ');
    expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  });

  test('does not go to HTTP/1.0, nor into a stream', async () => {
    expect(await answerTo({ 'User-Agent': 'node' }, '1.0')).not.toContain(' 102 ');
    const stream = await answerTo({ 'User-Agent': 'node' }, '1.1', '/stream');
    expect(stream.slice(stream.indexOf('HTTP/1.1 200'))).not.toContain(' 102 ');
  });
});
