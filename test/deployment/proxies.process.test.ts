/** The proxies of docs/guides/reverse-proxy.md, configured as it says: a large upload, a stream, sound, a disconnect and a WebSocket. */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { wantsInterim } from '../../src/http/app.ts';
import { spawnService, type ChildService } from '../support/child-service.ts';
import { connect, useSessions } from '../http/support/sessions.ts';
import { startTestService } from '../support/service.ts';
import { describeWith } from '../support/programs.ts';
import { toneWav } from '../support/tone-model.ts';
import { proxies, startProxy, type Proxy } from './proxies.ts';

vi.setConfig({ testTimeout: 120_000 });

const key = 'a-key-of-twenty-characters';
const headers = { authorization: `Bearer ${key}` };
const json = { ...headers, 'content-type': 'application/json' };

/** The proxy's URL. It ends with the test. */
async function start(program: string, proxy: Proxy, { url }: Pick<ChildService, 'url'>): Promise<string> {
  const started = await startProxy(program, proxy, { url });
  onTestFinished(() => started[Symbol.asyncDispose]());
  return started.url;
}

const chat = (url: string, signal?: AbortSignal) =>
  fetch(`${url}/api/v1/chat/stream`, {
    method: 'POST',
    headers: json,
    body: JSON.stringify({ model: 'sandbox-chat-slow', messages: [{ role: 'user', content: 'one two' }] }),
    ...(signal && { signal }),
  });

/** Just below the limit of 26,214,400 bytes. */
const large = toneWav({ words: ['alpha'], language: 'de', rate: 48_000, tailSeconds: 270 });

/** Whole events arrive long before the last one. */
async function readStream(url: string): Promise<void> {
  const chunks: string[] = [];
  const text = (await chat(url)).body!.pipeThrough(new TextDecoderStream());
  for await (const chunk of text) chunks.push(chunk);
  expect(chunks.length).toBeGreaterThan(3);
  expect(chunks.slice(0, 2).join('')).not.toContain('chat.completed');
  expect(chunks.join('')).toContain('event: chat.completed');
}

async function leaveStream(url: string): Promise<void> {
  const leaving = new AbortController();
  const reader = (await chat(url, leaving.signal)).body!.getReader();
  await reader.read();
  leaving.abort();
}

async function uploadLarge(url: string): Promise<void> {
  const form = new FormData();
  form.set('file', new File([new Uint8Array(large)], 'large.wav'));
  const transcript = await fetch(`${url}/api/v1/transcribe`, { method: 'POST', headers, body: form });
  expect({ status: transcript.status, bytes: large.length > 25e6 }).toEqual({ status: 200, bytes: true });
}

/** More than the largest recording of `/transcribe`, and than the usual limits of proxies. */
async function uploadJob(url: string): Promise<void> {
  const recording = Buffer.concat([large.subarray(0, 44), Buffer.alloc(70_000_000)]);
  const form = new FormData();
  form.set('file', new File([recording], 'lecture.wav'));
  const answer = await fetch(`${url}/api/v1/transcriptions`, {
    method: 'POST',
    headers: { ...headers, prefer: 'pace=1000' },
    body: form,
  });
  expect(answer.status).toBe(202);
  const gone = await fetch(`${url}${answer.headers.get('location') ?? ''}`, { method: 'DELETE', headers });
  expect(gone.status).toBe(204);
}

/** Answers with the headers of the request. */
async function startEcho(): Promise<{ readonly url: string }> {
  const echo = createServer(({ headers, httpVersion }, res) => res.end(JSON.stringify({ headers, httpVersion })));
  echo.listen(0, '127.0.0.1');
  await once(echo, 'listening');
  onTestFinished(() => void echo.close());
  return { url: `http://127.0.0.1:${(echo.address() as AddressInfo).port}` };
}

describe('a proxy', () => {
  let service: ChildService;
  beforeAll(async () => {
    service = await spawnService({ env: { API_KEYS: key, PARLANCE_SANDBOX: '1' } });
  });
  afterAll(() => service[Symbol.asyncDispose]());

  useSessions();

  for (const [name, proxy] of Object.entries(proxies)) {
    describeWith([name], name, (programs) => {
      test('forwards a WebSocket with its subprotocol, and its end by either side', async () => {
        await using own = await startTestService({ env: { API_KEYS: key, PARLANCE_SANDBOX: '1' } });
        const url = await start(programs[name]!, proxy, own);
        const protocols = ['realtime', `openai-insecure-api-key.${key}`];
        const [one, other] = [await connect({ url }, { protocols }), await connect({ url }, { protocols })];
        expect(one.ws.protocol).toBe('realtime');
        for (const text of ['hello', 'x'.repeat(3_000_000)]) {
          one.ws.send(text);
          expect(await one.next()).toBe(text);
        }
        one.ws.terminate();
        await expect.poll(() => own.log.filter(({ status }) => status === 101)).toHaveLength(1);
        await expect(connect({ url })).rejects.toThrow('Unexpected server response: 401');
        void own.service.stop(60_000);
        expect(await other.closed).toBe(1012);
      });

      test('receives no interim responses, for any client', async () => {
        const url = await start(programs[name]!, proxy, await startEcho());
        const seen = (await (await fetch(url, { headers: { 'user-agent': 'node' } })).json()) as IncomingMessage;
        expect(seen.headers['user-agent']).toBe('node');
        expect(wantsInterim(seen)).toBe(false);
      });

      test('passes on large uploads, a stream as it is made, and a disconnect', async () => {
        const url = await start(programs[name]!, proxy, service);
        const before = service.log().length;
        await Promise.all([uploadLarge(url), readStream(url), leaveStream(url)]);
        await uploadJob(url);
        const chats = () => service.log().slice(before).filter(({ operation }) => operation === 'streamChat'); // prettier-ignore
        await expect.poll(() => chats().map(({ status }) => status).sort()).toEqual([200, 499]); // prettier-ignore
      });
    });
  }
});
