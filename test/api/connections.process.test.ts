/** Connections that cost without asking for anything: half-sent heads, silence, stalled readers, too many at once. */
import { readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { ConnectionLimits } from '../../src/http/connection/listener.ts';
import { chatOf, completed, scripted, stepStarted, type Script } from '../chat/support/script.ts';
import { openStream } from '../chat/support/stream.ts';
import { startChildService, type ChildService } from '../support/child-service.ts';
import { createApi } from '../support/http.ts';
import { startTestService, type TestService, type TestServiceOptions } from '../support/service.ts';
import { connect as connectSocket, useSessions } from '../http/support/sessions.ts';
import { eventually } from './support/eventually.ts';
import { connectRaw, requestHead, type RawConnection } from './support/raw-socket.ts';

vi.setConfig({ testTimeout: 120_000 });

async function start(connectionLimits: Partial<ConnectionLimits>, options: TestServiceOptions = {}) {
  const service = await startTestService({ ...scripted, streamHoldMs: 0, ...options, connectionLimits });
  onTestFinished(() => service[Symbol.asyncDispose]());
  return service;
}

interface Connecting {
  readonly localAddress?: string;
}

/** A connection that ends with the test. */
async function open({ url }: { readonly url: string }, options: Connecting = {}): Promise<RawConnection> {
  const connection = await connectRaw(url, options);
  onTestFinished(() => connection[Symbol.dispose]());
  return connection;
}

async function openIdle(service: TestService): Promise<RawConnection> {
  const connection = await open(service);
  await healthCheck(connection);
  return connection;
}

async function healthCheck(connection: RawConnection): Promise<void> {
  await connection.send(requestHead('GET', '/healthz', {}));
  expect(await connection.answer('GET', '/healthz')).toMatchObject({ status: 200 });
}

const fixture = (name: string) => join(import.meta.dirname, '../fixtures/tls', name);
const streamHead = { 'content-type': 'application/json', connection: 'keep-alive' };

/** A connection with a stream that continues until it is aborted. */
async function openBusy(service: TestService | ChildService, options: Connecting = {}): Promise<RawConnection> {
  const connection = await open(service, options);
  const body = JSON.stringify(chatOf([stepStarted(0), { wait: 'ever' }]));
  const headers = { ...streamHead, 'content-length': Buffer.byteLength(body) };
  await connection.send(`${requestHead('POST', '/api/v1/chat/stream', headers)}${body}`);
  await eventually(() => connection.received).toContain('step.started');
  return connection;
}

const requestLines = ({ log }: TestService) => log.filter(({ msg }) => msg === 'request');
const halfHead = 'GET /healthz HTTP/1.1\r\nHost: loc';

describe('the head of a request', () => {
  it('that does not arrive in time gets a 408, also on a kept-alive connection', async () => {
    const service = await start({ headMs: 2_000 });
    for (const connect of [open, openIdle]) {
      const connection = await connect(service);
      await connection.send(halfHead);
      expect(await connection.answer('GET', '*')).toMatchObject({ status: 408, problem: { code: 'request-timeout' } });
      await connection.closed;
    }
    await eventually(() => requestLines(service).filter(({ status }) => status === 408)).toHaveLength(2);
  });

  it('that never starts closes the connection without a response', async () => {
    const service = await start({ headMs: 300 });
    const connection = await open(service);
    await connection.closed;
    expect(connection.received).toBe('');
    expect(requestLines(service)).toEqual([]);
  });
});

describe('a reader', () => {
  const long: Script = [stepStarted(0), { flood: 600 }, stepStarted(1), completed('')];

  it('that reads nothing of its response is disconnected', async () => {
    const service = await start({ stalledMs: 600 });
    using stream = await openStream(service.url, chatOf(long));
    stream.pause();
    await eventually(() => requestLines(service)).toMatchObject([{ status: 499 }]);
    await eventually(() => service.log.map(({ msg }) => msg)).toContain('ended');
  });

  it('of an idle stream is not', async () => {
    const service = await start({ stalledMs: 300 }, { heartbeatMs: 20 });
    using stream = await openStream(service.url, chatOf([stepStarted(0), { wait: 'signal' }]));
    await expect.poll(() => stream.comments, { timeout: 60_000 }).toBeGreaterThan(50);
    expect(requestLines(service)).toEqual([]);
  });

  it.each(['http', 'https'])('that reads a large response slowly over %s is not', async (scheme) => {
    const env = { TLS_CERT: fixture('localhost.pem'), TLS_KEY: fixture('localhost-key.pem') };
    // Chunks of TLS have 16 KB, and are read faster.
    const [stalledMs, pauseMs] = scheme === 'https' ? [1_200, 2] : [600, 10];
    const service = await start({ stalledMs }, { ...wordy, ...(scheme === 'https' && { env }) });
    const address = { host: '127.0.0.1', port: Number(new URL(service.url).port) };
    const socket = scheme === 'https' ? connectTls({ ...address, rejectUnauthorized: false }) : connect(address);
    onTestFinished(() => void socket.destroy());
    socket.on('data', () => {
      socket.pause();
      setTimeout(() => socket.resume(), pauseMs);
    });
    const body = JSON.stringify(chatOf([]));
    socket.write(`${requestHead('POST', '/api/v1/chat', { ...streamHead, 'content-length': body.length })}${body}`);
    await expect.poll(() => requestLines(service), { timeout: 60_000 }).toMatchObject([{ status: 200 }]);
  });
});

describe('at the connection limit', () => {
  it('closes the oldest without a request, then the oldest idle one', async () => {
    const service = await start({ connections: 4 });
    const [idle, laterIdle] = [await openIdle(service), await openIdle(service)];
    const [waiting, laterWaiting] = [await open(service), await open(service)];
    await laterWaiting.send(halfHead);
    const busy: RawConnection[] = [];
    for (const victim of [waiting, laterWaiting, idle, laterIdle]) {
      busy.push(await openBusy(service));
      await victim.closed;
      expect(victim.received).not.toContain('HTTP/1.1 408'); // a request id may contain 408
    }
    expect(busy.map(({ isOpen }) => isOpen)).toEqual([true, true, true, true]);
  });

  it('rejects with overloaded when every connection is busy', async () => {
    const service = await start({ connections: 2, stalledMs: 600 });
    const busy = [await openBusy(service), await openBusy(service)];
    const refused = await open(service);
    await refused.send(requestHead('GET', '/healthz', {}));
    const answer = await refused.answer('GET', '/healthz');
    expect(answer).toMatchObject({ status: 503, problem: { code: 'overloaded', retry_after: 1 } });
    expect(answer.headers.get('retry-after')).toBe('1');
    await refused.closed;
    expect(requestLines(service)).toMatchObject([{ id: answer.headers.get('x-request-id'), status: 503 }]);
    await eventually(() => service.log.find(({ msg }) => msg === 'connection limit reached')).toMatchObject({
      level: 40,
      limit: 2,
      refused: 1,
    });
    busy[0]![Symbol.dispose]();
    await eventually(() => requestLines(service)).toHaveLength(2);
    await healthCheck(await open(service));
  });

  it.runIf(process.platform === 'linux')('keeps a newcomer when a busy address holds more connections', async () => {
    const service = await start({ connections: 3 });
    const stranger = { localAddress: '127.0.0.2' };
    const held = [await openBusy(service, stranger), await openBusy(service, stranger)];
    const mine = await open(service);
    const refused = await open(service, stranger);
    expect(await refused.answer('GET', '/healthz')).toMatchObject({ status: 503 });
    await healthCheck(mine);
    expect(held.map(({ isOpen }) => isOpen)).toEqual([true, true]);
  });

  it.runIf(process.platform === 'linux')(
    'closes the newest request of the address with the most connections',
    async () => {
      const service = await start({ connections: 4 });
      const stranger = { localAddress: '127.0.0.2' };
      const held = [];
      for (let i = 0; i < 4; i++) held.push(await openBusy(service, stranger));
      const mine = await openBusy(service);
      await held[3]!.closed;
      const second = await openBusy(service);
      await held[2]!.closed;
      const third = await open(service); // two for each: no one holds more than the newcomer would
      expect(await third.answer('GET', '/healthz')).toMatchObject({ status: 503 });
      expect([held[0]!.isOpen, held[1]!.isOpen, mine.isOpen, second.isOpen]).toEqual([true, true, true, true]);
    },
  );
});

describe('a WebSocket at the connection limit', () => {
  useSessions();

  it.runIf(process.platform === 'linux')('is closed after everything else of its address', async () => {
    const service = await start({ connections: 3 });
    const stranger = { localAddress: '127.0.0.2' };
    const first = await connectSocket(service, stranger);
    const second = await connectSocket(service, stranger);
    const busy = await openBusy(service, stranger);
    const held = [await openBusy(service)];
    await busy.closed;
    first.ws.send('still here');
    expect(await first.next()).toBe('still here');
    const third = await open(service); // each has two, or less: no one holds more than the newcomer would
    expect(await third.answer('GET', '/healthz')).toMatchObject({ status: 503 });
    second.ws.send('still here');
    expect(await second.next()).toBe('still here');
    expect(held[0]!.isOpen).toBe(true);
  });

  it.runIf(process.platform === 'linux')('is closed if its address has the most connections', async () => {
    const service = await start({ connections: 2 });
    const stranger = { localAddress: '127.0.0.2' };
    const first = await connectSocket(service, stranger);
    const second = await connectSocket(service, stranger);
    await healthCheck(await open(service));
    expect(await second.closed).toBe(1006);
    first.ws.send('still here');
    expect(await first.next()).toBe('still here');
  });
});

describe('pipelined requests', () => {
  it('are handled sequentially', async () => {
    const service = await start({});
    const connection = await open(service);
    await connection.send(requestHead('GET', '/api/v1/models', {}).repeat(10));
    for (let i = 0; i < 10; i++) {
      expect(await connection.answer('GET', '/api/v1/models')).toMatchObject({ status: 200 });
    }
    expect(requestLines(service)).toHaveLength(10);
  });

  it('wait for the previous response', async () => {
    const service = await start({});
    const connection = await openBusy(service);
    await connection.send(requestHead('GET', '/healthz', {}).repeat(3));
    await healthCheck(await open(service)); // what was sent before has been read
    expect(requestLines(service)).toHaveLength(1);
    connection[Symbol.dispose]();
    await eventually(() => requestLines(service)).toHaveLength(2);
    expect(requestLines(service)).toMatchObject([{ path: '/healthz' }, { operation: 'streamChat', status: 499 }]);
  });

  it('close the connection above the limit', async () => {
    const service = await start({});
    const connection = await openBusy(service);
    await connection.send(requestHead('GET', '/healthz', {}).repeat(100));
    await connection.closed;
    await eventually(() => requestLines(service)).toMatchObject([{ operation: 'streamChat', status: 499 }]);
  });
});

it('a CONNECT pipelined after a stream does not block shutdown', async () => {
  const service = await start({});
  const connection = await openBusy(service);
  await connection.send('CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n');
  await healthCheck(await open(service)); // it has been read
  await service.service.stop(0);
  await connection.closed;
});

describe.runIf(process.platform === 'linux')('a process with 200 file descriptors', () => {
  const withDescriptors = { through: () => ['sh', '-c', 'ulimit -n 200; exec "$@"', 'sh'] };
  const descriptors = ({ pid }: ChildService) => readdirSync(`/proc/${pid}/fd`).length;

  it('responds while another address opens 400 connections', async () => {
    const service = await startChildService({ ...withDescriptors, env: { PARLANCE_SANDBOX: '1' } });
    const api = createApi(service.url);
    const before = descriptors(service);
    const held: RawConnection[] = [];
    for (let i = 0; i < 400; i++) {
      const connection = await open(service);
      held.push(connection);
      await connection.send(i % 2 === 0 ? halfHead : requestHead('GET', '/healthz', {}));
      if (i % 20 === 0) expect(await api.get('/healthz')).toMatchObject({ status: 200 });
    }
    expect(descriptors(service)).toBeLessThan(140);
    const chat = { messages: [{ role: 'user', content: 'Hello' }] };
    expect(await api.post('/api/v1/chat', chat)).toMatchObject({ status: 200 });
    expect(held.at(-1)!.isOpen).toBe(true);
    held.forEach((connection) => connection[Symbol.dispose]());
    await eventually(() => descriptors(service)).toBeLessThanOrEqual(before + 2);
    expect(service.log().filter(({ level }) => level >= 50)).toEqual([]);
  });

  it('recovers after all of them were in use', async () => {
    const service = await startChildService({ ...withDescriptors, ...hoarder });
    const api = createApi(service.url);
    const chat = { messages: [{ role: 'user', content: 'x' }] };
    const answer = api.post('/api/v1/chat', chat);
    await eventually(() => service.said.stdout).toContain('took all');
    const reset = await createApi(service.url)
      .get('/healthz')
      .then(
        () => false,
        () => true,
      );
    expect(reset).toBe(true);
    await writeFile(join(service.dir, 'finish'), '');
    expect(await answer).toMatchObject({ status: 200 });
    await healthCheck(await open(service));
    expect(await api.post('/api/v1/chat', chat)).toMatchObject({ status: 200 });
  });
});

/** The settings and the file of a chat engine; `code` is the body of its `complete`, up to `content`. */
function chatEngine(name: string, code: string) {
  const source = `
import { closeSync, existsSync, openSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

export default {
  contract: 1,
  name: '${name}',
  capability: 'chat',
  options: { type: 'object', properties: {} },
  create: (options, context) => ({
    models: [{ id: '${name}', local: true }],
    async *complete(call, { signal }) {
      yield { type: 'step-started', step: 0 };
      ${code}
      yield { type: 'content-delta', step: 0, delta: content };
      yield { type: 'completed', result: { content, finishReason: 'stop', reasoning: null, usage: null } };
    },
  }),
};
`;
  return { config: `engines: { ${name}: { use: ./${name}.mjs } }\n`, files: { [`${name}.mjs`]: source } };
}

/** Its answer is 16 MB, written at once. */
const wordy = chatEngine('wordy', `const content = 'x'.repeat(16_000_000);`);

/** Opens files until there are no descriptors left, and closes them once `finish` lies beside it. */
const hoarder = chatEngine(
  'hoarder',
  `const content = 'done';
      const taken = [];
      try {
        for (;;) taken.push(openSync('/dev/null'));
      } catch {
        context.log.info({}, 'took all');
      }
      while (!existsSync(context.resolve('finish'))) await wait(10, undefined, { signal });
      taken.forEach((descriptor) => closeSync(descriptor));`,
);
