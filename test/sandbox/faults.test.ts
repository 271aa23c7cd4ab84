/** Faults by `Prefer`, in both APIs and at the upgrade: an answer of the contract, late, cut off, or a closed socket. */
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { echo } from '../api/support/engines.ts';
import { openaiContract } from '../../src/contract/document.ts';
import { createApi } from '../support/http.ts';
import { commitEvent, openLiveSession, transcription } from '../support/realtime-client.ts';
import { startTestService } from '../support/service.ts';
import { saying, serveSandbox } from './support.ts';

const sandbox = serveSandbox();
const hello = { model: 'sandbox-chat', ...saying('say: Hello') };
const json = { 'content-type': 'application/json' };

const chatUnder = {
  '/api/v1': '/api/v1/chat',
  '/v1': '/v1/chat/completions',
} as const;

interface Broken {
  readonly status: number | undefined;
  readonly bytes: number;
  readonly isWhole: boolean;
}

/** Reads an answer up to its end, or to the end of its connection. */
async function receive(url: string, prefer: string, path: string, body: object): Promise<Broken> {
  const call = request(url + path, { method: 'POST', headers: { ...json, prefer }, agent: false });
  call.end(JSON.stringify(body));
  let bytes = 0;
  // Listens at once: what is unread when the connection breaks is lost.
  const answer = await new Promise<IncomingMessage>((resolve) => {
    call.once('response', (response: IncomingMessage) => {
      response.on('data', (chunk: Buffer) => (bytes += chunk.length)).on('error', () => {});
      response.once('close', () => resolve(response));
    });
  });
  return { status: answer.statusCode, bytes, isWhole: answer.complete };
}

/** Resolves with the close code; 0 if the upgrade was refused, whose answer is then known. */
async function connect({ query = '', headers = {} }: { query?: string; headers?: Record<string, string> }) {
  const url = `${sandbox.service.url.replace('http', 'ws')}/v1/realtime?intent=transcription${query}`;
  const socket = new WebSocket(url, 'realtime', { headers });
  const events: string[] = [];
  let refusal: IncomingMessage | undefined;
  socket.on('message', (data: Buffer) => events.push((JSON.parse(data.toString()) as { type: string }).type));
  const code = await new Promise<number>((resolve) => {
    socket.on('close', resolve).on('unexpected-response', (_request, response) => {
      refusal = response;
      response.resume().on('close', () => resolve(0));
    });
  });
  return { code, events, status: refusal?.statusCode, headers: refusal?.headers };
}

const declared = [...openaiContract.operations.values()].flatMap(({ operationId, method, path, responses }) =>
  Object.keys(responses)
    .filter((status) => Number(status) >= 200)
    .map((status) => ({ operationId, status, method: method.toUpperCase(), path: path.replace('{id}', 'anything') })),
);

describe('an answer under /v1', () => {
  it.each(declared)('$operationId $status', async ({ status, method, path }) => {
    const answer = await sandbox.api.send(method, `/v1${path}`, { headers: { prefer: `code=${status}` } });
    expect(answer.status).toBe(Number(status)); // the rest has been held against the contract
    if (Number(status) < 400) return;
    expect(answer.headers.get('x-should-retry')).toBe(String(['429', '503'].includes(status)));
    expect(answer.headers.has('retry-after')).toBe(['429', '503'].includes(status));
  });

  it('is refused for an undeclared code, where the operation declares a refusal', async () => {
    const { status, error } = await sandbox.api.post('/v1/chat/completions', hello, { prefer: 'code=418' });
    expect(status).toBe(400);
    expect(error.message).toContain('has the unknown code 418; createChatCompletion declares 200, 400,');
    expect((await sandbox.api.get('/v1/audio/models', { prefer: 'code=418, stall=x' })).status).toBe(200);
  });
});

describe('at the upgrade', () => {
  it('an answer of the contract refuses it, by header or query', async () => {
    const refused = { code: 0, status: 503, headers: { 'retry-after': '1' } };
    expect(await connect({ headers: { prefer: 'code=503' } })).toMatchObject(refused);
    expect(await connect({ query: '&prefer=code%3D503' })).toMatchObject(refused);
    expect(await connect({ query: '&prefer=code=429', headers: { prefer: 'code=503' } })).toMatchObject(refused);
  });

  it('the query is nothing to other requests, and 101 is not an answer', async () => {
    const { status } = await sandbox.api.post('/api/v1/chat?prefer=code%3D503', saying('Hello'));
    expect(status).toBe(200);
    expect((await connect({ headers: { prefer: 'code=101' } })).status).toBe(400);
  });
});

describe('stall', () => {
  it.each(Object.entries(chatUnder))('delays an answer under %s', async (_root, path) => {
    const options = { method: 'POST', headers: { ...json, prefer: 'stall=900' }, agent: false };
    const stalled = request(sandbox.service.url + path, options).on('error', () => {});
    stalled.end(JSON.stringify(hello));
    await once(stalled, 'finish');
    expect((await sandbox.api.post(path, hello, { prefer: 'code=429, stall=0.01' })).status).toBe(429);
    stalled.destroy();
    const statuses = () => sandbox.service.log.filter(({ msg }) => msg === 'request').map(({ status }) => status);
    await expect.poll(() => statuses().slice(-2)).toEqual([429, 499]);
  });

  it('delays every event of a session, in order', async () => {
    const session = await openLiveSession(sandbox.service, 'intent=transcription&prefer=stall%3D0.2');
    const spoken = await sandbox.service.post('/tts', { text: 'Good morning.', format: 'pcm' });
    session.sound(Buffer.from(await spoken.arrayBuffer()));
    session.say(commitEvent);
    expect(await session.until(`${transcription}completed`)).toMatchObject([{ transcript: 'Good morning.' }]);
  });
});

describe('cut', () => {
  it.each([
    ['/api/v1/chat', saying('say: Hello')],
    ['/api/v1/chat/stream', saying('say: Hello')],
    ['/api/v1/tts', { text: 'Hello', format: 'wav' }],
    ['/v1/chat/completions', hello],
    ['/v1/chat/completions', { ...hello, stream: true }],
    ['/v1/audio/speech', { model: 'tts-1', voice: 'alloy', input: 'Hello' }],
  ])('breaks the connection of %s after so many bytes', async (path, body) => {
    for (const bytes of [0, 1, 100]) {
      expect(await receive(sandbox.service.url, `cut=${bytes}`, path, body)).toEqual({
        ...{ status: 200, bytes, isWhole: false },
      });
    }
    const whole = await receive(sandbox.service.url, 'cut=999999999', path, body);
    expect(whole).toMatchObject({ isWhole: true });
    expect(whole.bytes).toBeGreaterThan(100);
  });

  it('cuts a failure, too', async () => {
    const broken = await receive(sandbox.service.url, 'code=503, cut=7', '/v1/chat/completions', hello);
    expect(broken).toEqual({ status: 503, bytes: 7, isWhole: false });
  });

  it.each([
    ['HEAD', '/v1/models', 'cut=0'],
    ['DELETE', '/api/v1/transcriptions/anything', 'code=204, cut=0'],
  ])('breaks the connection of %s %s, whose answer has no body', async (method, path, prefer) => {
    const call = request(sandbox.service.url + path, { method, headers: { prefer }, agent: false }).end();
    await expect(once(call, 'response')).rejects.toMatchObject({ code: 'ECONNRESET' });
  });

  it('breaks a socket before the event that exceeds the bytes', async () => {
    expect(await connect({ query: '&prefer=cut%3D10' })).toMatchObject({ code: 1006, events: [] });
  });
});

describe('close', () => {
  it('closes a socket after so many events', async () => {
    expect(await connect({ headers: { prefer: 'close=1012, after=1' } })).toEqual(
      expect.objectContaining({ code: 1012, events: ['session.created'] }),
    );
    expect(await connect({ query: '&prefer=close=4321' })).toMatchObject({ code: 4321, events: [] });
    expect(await connect({ query: '&prefer=close=1013,after=1,stall=0.05' })).toMatchObject({
      ...{ code: 1013, events: ['session.created'] },
    });
  });

  it('is nothing to a request', async () => {
    expect((await sandbox.api.post('/api/v1/chat', saying('Hello'), { prefer: 'close=1012' })).status).toBe(200);
  });
});

describe('a malformed fault', () => {
  it.each([
    ...['stall=', 'stall=-1', 'stall=1e9', 'stall=1000', 'stall=NaN', 'stall=0x10', 'stall="1 "'],
    ...['cut=-1', 'cut=1.5', 'cut=12345678901', 'cut=Infinity', 'cut=all'],
    ...['close=1006', 'close=999', 'close=5000', 'close=1004', 'after=-1', 'after=1.0', 'stall=1, cut=x'],
  ])('%s is refused by both APIs', async (prefer) => {
    if (prefer === 'stall=') prefer = 'stall=""';
    const [, name = ''] = /(\w+)=[^=]*$/.exec(prefer) ?? [];
    const { problem } = await sandbox.api.post('/api/v1/chat', saying('Hello'), { prefer });
    expect(problem).toMatchObject({ status: 422, errors: [{ in: 'header', pointer: '/Prefer' }] });
    expect(problem.detail).toMatch(new RegExp(`^Prefer must have .* as ${name}\\.$`));
    const compatible = await sandbox.api.post('/v1/chat/completions', hello, { prefer });
    expect(compatible).toMatchObject({ status: 400, error: { message: problem.detail } });
  });

  it.each(['__proto__=1', 'constructor=1, toString=2', 'stall', 'cut; close', ',,;=', 'stall=0, stall=x'])(
    '%s has no effect',
    async (prefer) => {
      expect((await sandbox.api.post('/api/v1/chat', saying('Hello'), { prefer })).status).toBe(200);
    },
  );
});

describe('outside of sandbox mode', () => {
  it('no API knows a fault', async () => {
    const service = await startTestService({ config: 'engines: { sandbox: { use: sandbox } }' });
    onTestFinished(() => service[Symbol.asyncDispose]());
    const api = createApi(service.url);
    const plain = await startTestService(echo);
    onTestFinished(() => plain[Symbol.asyncDispose]());
    expect((await createApi(plain.url).get('/v1/models', { prefer: 'code=503' })).status).toBe(200);
    for (const prefer of ['code=429', 'stall=900', 'cut=1', 'close=1012', 'stall=x']) {
      for (const path of Object.values(chatUnder)) expect((await api.post(path, hello, { prefer })).status).toBe(200);
      const query = `intent=transcription&prefer=${encodeURIComponent(prefer)}`;
      const session = await openLiveSession(service, query);
      session.say(commitEvent);
      await session.until('error'); // an empty commit: the session continues
    }
  });
});
