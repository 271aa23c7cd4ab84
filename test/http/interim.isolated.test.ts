/** Interim responses: `102 Processing` to the clients that wait no longer without, and to no other. */
import { connect } from 'node:net';
import { once } from 'node:events';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { multipart, multipartType, recording } from '../api/support/forms.ts';
import { formOf } from '../jobs/support/jobs.ts';
import { hookEngine, speechOf, textOf, wordEngine } from '../jobs/support/speech.ts';
import { startTestService, type TestService } from '../support/service.ts';

/** undici looks at its timers once a second, so that this timeout takes up to two. */
const impatientMs = 1_000;
const interimMs = 200;

let service: TestService;
let hook: Disposable;
/** The engine answers no request before this is resolved. */
let held: PromiseWithResolvers<undefined>;
/** Transcriptions that the engine has begun. */
let begun = 0;
beforeAll(async () => {
  service = await start();
  hook = hookEngine(() => {
    begun += 1;
    return held.promise;
  });
});
beforeEach(() => void (held = Promise.withResolvers()));
afterAll(async () => {
  hook[Symbol.dispose]();
  await service[Symbol.asyncDispose]();
});

function start(env: Readonly<Record<string, string>> = {}): Promise<TestService> {
  const config = 'engines: { words: { use: ./words.mjs, slots: 16 } }\n';
  return startTestService({ ...wordEngine, config, interimMs, env });
}

interface RawClient {
  readonly headers: Readonly<Record<string, string>>;
  readonly version?: string;
  /** Below /transcribe. */
  readonly path?: string;
  /** Gets all that has come so far. */
  readonly onBytes?: (text: string) => void;
}

/** All bytes of the answer to a transcription. */
async function answerTo({ headers, version = '1.1', path = '', onBytes }: RawClient): Promise<string> {
  const body = multipart({ ...recording, value: speechOf(2) });
  const lines = Object.entries({ ...multipartType, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  const { port } = new URL(service.url);
  const socket = connect(Number(port), '127.0.0.1');
  let text = '';
  socket.setEncoding('latin1').on('data', (piece: string) => {
    text += piece;
    onBytes?.(text);
  });
  socket.write(
    `POST /api/v1/transcribe${path} HTTP/${version}\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\nContent-Length: ${body.length}\r\n${lines.join('')}\r\n`,
  );
  socket.write(body);
  await once(socket, 'close');
  return text;
}

/** Node's own fetch, as it is after 300 s. Where the package undici is loaded, it replaces the dispatcher: hence a process of its own. */
async function impatientFetch(): Promise<typeof fetch> {
  await fetch(`${service.url}/healthz`); // from then on, its dispatcher is there
  const { [dispatcherName]: usual } = globalThis as unknown as Record<symbol, { constructor: unknown }>;
  const Agent = usual?.constructor as new (options: object) => object;
  const dispatcher = new Agent({ headersTimeout: impatientMs });
  return (url, init) => fetch(url, { ...init, dispatcher } as RequestInit);
}

const dispatcherName = Symbol.for('undici.globalDispatcher.1');

test('a client that would time out without a head gets its answer unless INTERIM_RESPONSES is off', async () => {
  const post = { method: 'POST', body: formOf(speechOf(2)) };
  const send = await impatientFetch();
  await using without = await start({ INTERIM_RESPONSES: 'off' });
  const byFetch = send(`${service.url}/api/v1/transcribe`, post);
  const client = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: 'none', fetch: send, maxRetries: 0 });
  const file = new File([new Uint8Array(speechOf(2))], 'memo.wav');
  const bySdk = client.audio.transcriptions.create({ file, model: 'words' });
  await expect.poll(() => begun).toBe(2);
  // Sent last: when it has given up, the others would have, too.
  const withoutInterim = send(`${without.url}/api/v1/transcribe`, post);
  await expect(withoutInterim).rejects.toMatchObject({ cause: { code: 'UND_ERR_HEADERS_TIMEOUT' } });
  held.resolve(undefined);
  expect(await (await byFetch).json()).toMatchObject({ text: textOf(2) });
  expect((await bySdk).text).toBe(textOf(2));
});

describe('a 102', () => {
  const others: Readonly<Record<string, RawClient>> = {
    'a client like that of Python': { headers: { 'User-Agent': 'python-requests/2.32.3' } },
    'a client without a name': { headers: {} },
    'a name that only looks like it': { headers: { 'User-Agent': 'node-fetch/1.0' } },
    'a proxy': { headers: { 'User-Agent': 'node', 'X-Forwarded-For': '10.0.0.1' } },
    'a proxy with the header of RFC 7239': { headers: { 'User-Agent': 'node', Forwarded: 'for=10.0.0.1' } },
    'a proxy that is in the way': { headers: { 'User-Agent': 'undici', Via: '1.1 proxy' } },
    nginx: { headers: { 'User-Agent': 'OpenAI/JS 7.55.0', 'X-Real-IP': '10.0.0.1' } },
    Cloudflare: { headers: { 'User-Agent': 'node', 'CF-Ray': '1' } },
    'HTTP/1.0': { headers: { 'User-Agent': 'node' }, version: '1.0' },
  };

  test('is sent only to clients that need it, and never into a stream', async () => {
    const answers = Object.entries(others).map(async ([who, client]) => [who, await answerTo(client)] as const);
    const stream = answerTo({ headers: { 'User-Agent': 'node' }, path: '/stream' });
    // Sent last: when it has got two, the others would have one.
    const onBytes = (text: string) => {
      if (text.split(' 102 ').length > 2) held.resolve(undefined);
    };
    const text = await answerTo({ headers: { 'User-Agent': 'node' }, onBytes });
    expect(text).toMatch(/^(HTTP\/1\.1 102 Processing\r\n\r\n){2,}HTTP\/1\.1 200 OK\r\n/);
    for (const [who, answer] of await Promise.all(answers)) {
      expect(answer, who).not.toContain(' 102 ');
      expect(answer, who).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    }
    expect((await stream).slice((await stream).indexOf('HTTP/1.1 200'))).not.toContain(' 102 ');
  });
});
