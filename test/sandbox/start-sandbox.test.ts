/** `startSandbox()`: what a test of an app needs of it, and that nothing stays behind. */
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { startSandbox } from '../../src/sandbox/index.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const saying = (content: string) => ({ messages: [{ role: 'user' as const, content }] });

describe('startSandbox', () => {
  it('speaks what it transcribes, for its client and for the SDK of OpenAI', async () => {
    await using sandbox = await startSandbox();
    const recording = await sandbox.speak('Guten Morgen.');
    expect(recording).toMatchObject({ name: 'speech.wav', type: 'audio/wav' });
    expect((await sandbox.client.transcribe(recording)).text).toBe('Guten Morgen.');
    const { OPENAI_BASE_URL: baseURL, OPENAI_API_KEY: apiKey, PARLANCE_URL: url } = sandbox.env;
    const openai = new OpenAI({ baseURL, apiKey });
    const file = await sandbox.speak('Guten Abend.', 'mp3');
    expect((await openai.audio.transcriptions.create({ file, model: 'whisper-1' })).text).toBe('Guten Abend.');
    expect(url).toBe(sandbox.url);
  });

  it('keeps the requests of the app with their bodies, and none of its own', async () => {
    await using sandbox = await startSandbox();
    const file = await sandbox.speak('Hello.');
    await sandbox.client.chat(saying('Hi'));
    await sandbox.client.transcribe(file, { language: 'de' });
    await fetch(`${sandbox.url}/healthz`);
    await fetch(`${sandbox.url}/v1/chat/completions`, { method: 'POST', body: '{"a": 1', headers: { 'x-mine': '1' } });
    const [chat, transcription, other] = sandbox.requests;
    expect(await chat?.json()).toEqual(saying('Hi'));
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- a whole body of a few kilobytes
    const form = await transcription?.formData();
    expect(form?.get('language')).toBe('de');
    expect((form?.get('file') as File).size).toBe(file.size);
    expect(other).toMatchObject({ method: 'POST', url: `${sandbox.url}/v1/chat/completions` });
    expect(other?.headers.get('x-mine')).toBe('1');
    expect(await other?.text()).toBe('{"a": 1');
    expect(sandbox.requests).toHaveLength(3);
  });

  it('keeps requests for a WebSocket, and others that a Request cannot have', async () => {
    await using sandbox = await startSandbox();
    const socket = new WebSocket(`${sandbox.url.replace('http', 'ws')}/v1/realtime?intent=transcription`);
    await new Promise((resolve) => socket.once('message', resolve));
    const closed = new Promise((resolve) => socket.once('close', resolve));
    expect(sandbox.requests).toMatchObject([{ method: 'GET' }]);
    const trace = request(`${sandbox.url}/v1/models`, { method: 'TRACE', agent: false }).end();
    await once(trace, 'response');
    await sandbox[Symbol.asyncDispose]();
    expect(await closed).toBe(1012);
    await sandbox[Symbol.asyncDispose]();
  });

  it('answers requests for a tunnel or an upgrade as the service does', async () => {
    await using sandbox = await startSandbox();
    const tunnel = request(sandbox.url, { method: 'CONNECT', agent: false }).end();
    expect(await once(tunnel, 'connect')).toMatchObject([{ statusCode: 405 }, {}, {}]);
    const headers = { connection: 'upgrade', upgrade: 'websocket', 'content-type': 'application/json' };
    const secret = request(`${sandbox.url}/v1/realtime/client_secrets`, { method: 'POST', headers, agent: false });
    expect(await once(secret.end('{}'), 'response')).toMatchObject([{ statusCode: 200 }]);
    expect(await sandbox.requests[0]?.text()).toBe('{}');
  });

  it('does not listen on the port of its settings file', async () => {
    const config = join(await temporaryDirectory(), 'service.yaml');
    await writeFile(config, 'port: 1\nengines: { sandbox: { use: sandbox } }\n');
    await using sandbox = await startSandbox({ config });
    expect(new URL(sandbox.url).port).not.toBe('1');
  });

  it('answers the prompts of an app with its own answers', async () => {
    await using sandbox = await startSandbox({ answers: [{ contains: 'Summarize', say: 'Short.' }] });
    expect((await sandbox.client.chat(saying('Summarize this.'))).content).toBe('Short.');
  });

  it('says why it cannot start', async () => {
    const answers = [{ contains: 'a', call: 'look_up' }];
    await expect(startSandbox({ answers })).rejects.toThrow(/answers\[0\] must call/);
    await expect(startSandbox({ config: 'not-there.yaml' })).rejects.toThrow('PARLANCE_CONFIG');
  });
});

describe('next', () => {
  const statusOf = (promise: Promise<unknown>) =>
    promise.then(
      () => 200,
      (error: unknown) => (error as { status: number }).status,
    );

  it('is for as many requests as it says, also if they are sent at once', async () => {
    await using sandbox = await startSandbox();
    sandbox.next({ code: 429, times: 2 });
    sandbox.next({ code: 503 });
    const calls = Array.from({ length: 5 }, () => statusOf(sandbox.client.chat(saying('Hi'))));
    expect((await Promise.all(calls)).toSorted()).toEqual([200, 200, 429, 429, 503]);
  });

  it('is not for requests that have a preference, for `speak`, or for what is no operation', async () => {
    await using sandbox = await startSandbox();
    sandbox.next({ code: 429 });
    await sandbox.speak('Hello.');
    expect((await fetch(`${sandbox.url}/healthz`)).status).toBe(200);
    const chat = { method: 'POST', headers: { prefer: 'code=504' } };
    expect((await fetch(`${sandbox.url}/api/v1/chat`, chat)).status).toBe(504);
    expect(await statusOf(sandbox.client.chat(saying('Hi')))).toBe(429);
  });

  it('closes a WebSocket, and applies two faults at once', async () => {
    await using sandbox = await startSandbox();
    sandbox.next({ close: 1012, after: 1, stall: 0.01 });
    const socket = new WebSocket(`${sandbox.url.replace('http', 'ws')}/v1/realtime?intent=transcription`);
    expect(await new Promise((resolve) => socket.once('close', resolve))).toBe(1012);
    sandbox.next({ code: 503, cut: 5 });
    await expect(fetch(`${sandbox.url}/v1/models`).then((answer) => answer.text())).rejects.toThrow('terminated');
  });

  it.each([
    [{ times: 0 }, 'times must be at least 1'],
    [{ times: NaN }, 'times must be at least 1'],
    [{ stall: -1 }, 'seconds below 1000'],
    [{ stall: Infinity }, 'seconds below 1000'],
    [{ cut: 1.5 }, 'a number of bytes'],
    [{ close: 1006 }, 'a code that may be sent'],
  ])('refuses %j at once', async (fault, message) => {
    await using sandbox = await startSandbox();
    expect(() => sandbox.next(fault)).toThrow(message);
  });
});
