/**
 * Bodies that are made to cost more than they say: the service outlives them, and other callers are served. Both APIs have
 * one reader of bodies; test/openai/chat-largest.system.test.ts sends the largest ones to the other API.
 */
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startChildService, type ChildService } from '../support/child-service.ts';
import { createApi, type Answer } from '../support/http.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { multipartType } from './support/forms.ts';
import { connectRaw, requestHead, type RawConnection } from './support/raw-socket.ts';

vi.setConfig({ testTimeout: 120_000 }); // hundreds of megabytes, however busy the machine is

const withoutEngines = { config: 'engines: {}\n' };
const json = { 'content-type': 'application/json' };

const path = '/api/v1/chat';
const served = { status: 503, problem: { code: 'no-engine' } };
const tooMany = { status: 422, problem: { code: 'invalid-request', errors: [{ in: 'body', pointer: '' }] } };
const overloaded = { status: 503, problem: { code: 'overloaded' } };

const post = (url: string, body: Buffer, to = path): Promise<Answer> =>
  createApi(url).send('POST', to, { headers: json, body });

const large = 38_000_000;
const messages = '"messages":[{"role":"user","content":"Hello"}]';
/** A valid chat with an unknown property. */
const padded = (pad: string) => Buffer.from(`{${messages},"pad":${pad}}`);
const ofObjects = padded(`[${'{},'.repeat(large / 3)}{}]`);
const ofText = padded(`"\u{1F600}${'x'.repeat(large)}"`);
const ofWhiteSpace = Buffer.from(`{${messages}}${' '.repeat(large)}`);
const largest = Buffer.from(
  `{"messages":[${Array<string>(100)
    .fill(`{"role":"user","content":"${String.raw`\ud83d\ude00`.repeat(32_000)}"}`)
    .join()}]}`,
);

async function expectAlive(service: ChildService): Promise<void> {
  const api = createApi(service.url);
  expect((await api.get('/healthz')).status).toBe(200);
  expect(await post(service.url, largest)).toMatchObject(served);
  service.kill('SIGTERM');
  expect(await service.exit).toEqual({ code: 0, signal: null });
}

const heapOf512MB = ['--max-old-space-size=512'];

describe('JSON that expands in memory', () => {
  it('does not crash the service when six arrive at once', async () => {
    const service = await startChildService(withoutEngines);
    const answers = await Promise.all(Array.from({ length: 6 }, () => post(service.url, ofObjects)));
    for (const answer of answers) expect(answer).toMatchObject(tooMany);
    await expectAlive(service);
  });

  it('does not crash a service with a heap of 512 MB', async () => {
    const service = await startChildService({ ...withoutEngines, nodeOptions: heapOf512MB });
    expect(await post(service.url, ofObjects)).toMatchObject(tooMany);
    expect(await post(service.url, ofText)).toMatchObject(served);
    expect(await post(service.url, ofWhiteSpace)).toMatchObject(served);
    await expectAlive(service);
  });

  it('leaves only its declared parts during a stream, with a heap of 512 MB', async () => {
    const service = await startChildService({ ...silentChat, nodeOptions: heapOf512MB });
    const streams: IncomingMessage[] = [];
    try {
      // Together they are larger than the heap.
      for (let i = 0; i < 8; i++) streams.push(await openStream(service.url));
      expect((await createApi(service.url).get('/healthz')).status).toBe(200);
      expect((await post(service.url, Buffer.from('{}'))).status).toBe(422);
    } finally {
      for (const stream of streams) stream.destroy();
    }
  });
});

/** A chat engine that begins and then says nothing more. */
const silentChat = {
  config: 'engines: { silent: { use: ./silent.mjs } }\n',
  files: {
    'silent.mjs': `
export default {
  contract: 1,
  name: 'silent',
  capability: 'chat',
  options: { type: 'object', properties: {} },
  create: () => ({
    models: [{ id: 'silent', local: true }],
    async *complete({ messages }, { signal }) {
      yield { type: 'step-started', step: 0 };
      yield { type: 'content-delta', step: 0, delta: 'well' };
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    },
  }),
};
`,
  },
};

/** Resolves when the stream has begun. */
async function openStream(url: string): Promise<IncomingMessage> {
  const sending = request(`${url}/v1/chat/completions`, { method: 'POST', headers: json, agent: false });
  sending.write('{"stream":true,');
  sending.end(ofText.subarray(1));
  const [answer] = (await once(sending, 'response')) as [IncomingMessage];
  expect(answer.statusCode).toBe(200);
  await once(answer, 'data');
  answer.on('error', () => undefined).resume();
  return answer;
}

// -------------------------------------------------------------------------------------------------- slow callers

/** Sends the head of a body of so many bytes, waits until the service takes it, and sends its first bytes. */
async function begin(
  { url }: TestService,
  { from, bytes, first }: { from: string; bytes: number; first: Buffer },
): Promise<RawConnection> {
  const connection = await connectRaw(url, { localAddress: from });
  const headers = { ...json, 'content-length': bytes, expect: '100-continue' };
  await connection.send(requestHead('POST', path, headers));
  await expect.poll(() => connection.received).toContain('\r\n\r\n');
  expect(connection.received).toMatch(/^HTTP\/1.1 100 /);
  await connection.send(first);
  return connection;
}

const KB = 1024;

/** A valid chat of so many bytes. */
const chatOf = (bytes: number) => Buffer.from(`{${messages}}`.padEnd(bytes));

/** test/http/body-budget.unit.test.ts has the other rules of the budget. */
describe('slow clients', () => {
  let service: TestService;
  const chat = { messages: [{ role: 'user', content: 'Hello' }] };

  beforeAll(async () => {
    service = await startTestService({ ...withoutEngines, bodyBudget: { reserve: 1024 * KB, shared: 1024 * KB } });
  });
  afterAll(() => service[Symbol.asyncDispose]());

  it('that have sent one byte do not keep others of their address out', async () => {
    const connections: RawConnection[] = [];
    try {
      for (let i = 0; i < 16; i++) {
        connections.push(await begin(service, { from: '127.0.0.1', bytes: large, first: Buffer.from('{') }));
      }
      expect(await createApi(service.url).post(path, chat)).toMatchObject(served);
      // Beyond the first 64 KB.
      expect(await post(service.url, chatOf(100 * KB))).toMatchObject(served);
    } finally {
      for (const connection of connections) connection[Symbol.dispose]();
    }
  });

  it('lose only the body of the largest holder when the memory is exhausted', async () => {
    const last = 10;
    const bodies = { '127.0.0.2': 700 * KB, '127.0.0.3': 300 * KB, '127.0.0.4': 400 * KB };
    const begun = Object.entries(bodies).map(async ([from, bytes]) =>
      begin(service, { from, bytes, first: chatOf(bytes).subarray(0, -last) }),
    );
    const connections = await Promise.all(begun);
    try {
      const [most, ...others] = connections as [RawConnection, RawConnection, RawConnection];
      const refused = await most.answer('POST', path);
      expect(refused).toMatchObject(overloaded);
      expect(refused.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
      expect(await createApi(service.url).post(path, chat)).toMatchObject(served);
      for (const other of others) {
        await other.send(' '.repeat(last));
        expect(await other.answer('POST', path)).toMatchObject(served);
      }
    } finally {
      for (const connection of connections) connection[Symbol.dispose]();
    }
  });
});

describe('a stalled body', () => {
  const detail = expect.stringContaining('1000 bytes in 0.2 s') as string;
  const late = { status: 408, problem: { code: 'request-timeout', detail } };
  let service: TestService;

  beforeAll(async () => {
    service = await startTestService({ minRate: { graceMs: 50, windowMs: 200, bytes: 1000 } });
  });
  afterAll(() => service[Symbol.asyncDispose]());

  it.each([
    ['JSON', path, json],
    ['a form', '/api/v1/transcribe', multipartType],
  ])('is answered 408 when it is %s', async (_what, to, type) => {
    using connection = await connectRaw(service.url);
    await connection.send(requestHead('POST', to, { ...type, 'content-length': 100_000 }));
    await connection.send('--');
    expect(await connection.answer('POST', to)).toMatchObject(late);
  });

  it('gets a 408 when it arrives byte by byte', async () => {
    using connection = await connectRaw(service.url);
    await connection.send(requestHead('POST', path, { ...json, 'content-length': 100_000 }));
    const drip = setInterval(() => void connection.send(' '), 5);
    const answer = await connection.answer('POST', path);
    clearInterval(drip);
    expect(answer).toMatchObject(late);
  });
});
