/** One HTTP request to a provider: each failure of the connection, and the code and retry that it leads to. */
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { EngineError, type EngineErrorCode } from '../../../../engines/contract/index.ts';
import { isTransient } from '../../../../engines/lib/provider/connection-failures.ts';
import { createTransport, readText, type HttpBody } from '../../../../engines/lib/provider/transport.ts';
import { freePort } from '../../../support/free-port.ts';
import { answers, resets, says, stalls, startProvider, type Behavior } from '../../../support/provider.ts';
import { startTls } from '../../../support/proxy.ts';

const noCaller = new AbortController().signal;

function open() {
  const transport = createTransport({});
  onTestFinished(() => transport[Symbol.asyncDispose]());
  return (url: string, body?: HttpBody, signal = noCaller) =>
    transport.send({ method: 'POST', url, headers: { 'x-own': 'yes' }, ...(body && { body }) }, signal);
}

/** The code of what a request fails with, and whether it may be retried. */
async function failureAt(url: string, body?: HttpBody): Promise<readonly [string, boolean]> {
  const error = await open()(url, body).then(
    () => Promise.reject(new Error('the request has succeeded')),
    (thrown: unknown) => thrown as Parameters<typeof isTransient>[0],
  );
  return [error.code, isTransient(error)];
}

/** A server that is no HTTP server; it ends with the test. */
async function listen(onConnection: (socket: Socket) => void): Promise<Server> {
  const server = createServer(onConnection).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return server;
}

const portOf = (server: Server) => (server.address() as AddressInfo).port;

test('a request and its answer keep their headers, and a body that comes in chunks has its length', async () => {
  const provider = await startProvider();
  provider.behave(answers(418, 'tea', { 'retry-after': '5' }));
  async function* chunks() {
    yield* await Promise.resolve([Buffer.from('ab'), Buffer.from('cde')]);
  }
  const answer = await open()(`${provider.baseUrl}/pot`, { bytes: 5, chunks: chunks() });
  expect(answer).toMatchObject({ status: 418, headers: { 'retry-after': '5' } });
  expect(await readText(answer, 100, noCaller)).toBe('tea');
  const [call] = provider.calls;
  expect(call).toMatchObject({ path: '/v1/pot', headers: { 'content-length': '5', 'x-own': 'yes' } });
  expect(String(await call!.body)).toBe('abcde');
});

test.each<[string, Behavior, EngineErrorCode, boolean]>([
  ['a reset before the answer', resets, 'provider-unreachable', true],
  ['an end before the answer', ({ socket }) => socket.end(), 'provider-unreachable', true],
  ['what is not HTTP', says('SSH-2.0-OpenSSH_9.2\r\n'), 'provider-bad-response', false],
  ['bytes of TLS', says('\x16\x03\x01garbage\r\n\r\n'), 'provider-bad-response', false],
  [
    'two lengths',
    says('HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 2\r\n\r\nok'),
    'provider-bad-response',
    false,
  ],
  ['a 100 that no one has asked for', says('HTTP/1.1 100 Continue\r\n\r\n'), 'provider-bad-response', false],
  ['a 102 without an end', says('HTTP/1.1 102 Processing\r\n\r\n'.repeat(200)), 'provider-bad-response', false],
  [
    'a head that is too long',
    says(`HTTP/1.1 200 OK\r\n${'x-filler: '.padEnd(60_000, 'x')}\r\n\r\n`),
    'provider-bad-response',
    false,
  ],
])('%s is a failure', async (_what, behavior, code, isRetried) => {
  const provider = await startProvider();
  provider.behave(behavior);
  expect(await failureAt(provider.baseUrl)).toEqual([code, isRetried]);
});

test('a port that nothing listens on is retried', async () => {
  const server = await listen(() => {});
  const url = `http://127.0.0.1:${portOf(server)}/`;
  server.close();
  await once(server, 'close');
  expect(await failureAt(url)).toEqual(['provider-unreachable', true]);
});

test('a host that does not exist is not retried', async () => {
  // A label has at most 63 characters: no DNS server is asked, which may take its time.
  expect(await failureAt(`http://${'a'.repeat(64)}.invalid/`)).toEqual(['provider-unreachable', false]);
});

test('a provider that does not speak TLS is not retried', async () => {
  const server = await listen((socket) => socket.on('error', () => {}).end('HTTP/1.1 400 Bad\r\n\r\n'));
  expect(await failureAt(`https://127.0.0.1:${portOf(server)}/`)).toEqual(['provider-misconfigured', false]);
});

describe('what the operator reads of a failure to connect', () => {
  const told = async (url: string) => {
    const error = await open()(url).catch((thrown: unknown) => thrown);
    if (!EngineError.is(error)) throw error;
    return `${error.message} ${String(error.forOperator)}`;
  };

  test('names the scheme of a provider that does not speak TLS', async () => {
    const server = await listen((socket) => socket.on('error', () => {}).end('HTTP/1.1 400 Bad\r\n\r\n'));
    const host = `127.0.0.1:${portOf(server)}`;
    expect(await told(`https://${host}/v1`)).toBe(
      `The provider speaks HTTP, not TLS: its base URL must begin with http://. Use http://${host} instead of https://${host}.`,
    );
  });

  test('names the address where nothing listens', async () => {
    const port = await freePort();
    expect(await told(`http://127.0.0.1:${port}/secret/v1`)).toBe(
      `The provider is unreachable. Nothing listens at 127.0.0.1:${port}: ECONNREFUSED. Start the server there, or change the base URL.`,
    );
  });

  test('names the certificate of an unknown authority, and how to trust it', async () => {
    const port = await startTls(portOf(await listen(() => {})));
    expect(await told(`https://localhost:${port}/v1`)).toMatch(
      /^The certificate of the provider is not accepted\. localhost:\d+ has one of an unknown authority: [A-Z_]+\. .*NODE_EXTRA_CA_CERTS/,
    );
  });

  test('names the host that does not exist', async () => {
    const host = `${'a'.repeat(64)}.invalid`;
    expect(await told(`https://${host}/v1`)).toContain(`The name ${host} cannot be resolved: `);
  });
});

test('a body that is not as long as it says is a failure of the engine', async () => {
  const provider = await startProvider();
  provider.behave(answers(200, 'ok'));
  async function* chunks() {
    yield await Promise.resolve(Buffer.from('abc'));
  }
  expect(await failureAt(provider.baseUrl, { bytes: 5, chunks: chunks() })).toEqual(['engine-failed', false]);
});

test('what the source of a body throws comes through as it is', async () => {
  const provider = await startProvider();
  const broken = new Error('the recording is gone');
  async function* chunks() {
    yield await Promise.resolve(Buffer.from('abc'));
    throw broken;
  }
  await expect(open()(provider.baseUrl, { bytes: 5, chunks: chunks() })).rejects.toMatchObject({ cause: broken });
});

test('an abort rejects with its reason and closes the connection', async () => {
  const provider = await startProvider();
  provider.behave(stalls);
  const caller = new AbortController();
  const reason = new Error('the caller has left');
  const sending = expect(open()(provider.baseUrl, undefined, caller.signal)).rejects.toBe(reason);
  await expect.poll(() => provider.calls.length).toBe(1);
  caller.abort(reason);
  await sending;
  await provider.calls[0]!.gone;
  await expect(open()(provider.baseUrl, undefined, caller.signal)).rejects.toBe(reason);
});
