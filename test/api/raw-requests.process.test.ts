/** Bytes that Node would answer by itself, or that no client sends: a real service in a process of its own reads them. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { spawnService, type ChildService } from '../support/child-service.ts';
import { createApi, type Answer } from '../support/http.ts';
import { eventually } from './support/eventually.ts';
import { connectRaw, requestHead, type RawConnection } from './support/raw-socket.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let service: ChildService;
beforeAll(async () => {
  service = await spawnService({ env: { PARLANCE_SANDBOX: '1', LOG_LEVEL: 'debug' } });
});
afterAll(() => service[Symbol.asyncDispose]());

/** Sends the bytes; resolves with the answer, once the service has its line in the log. */
async function ask(text: string | Buffer, method = 'GET', path = '*', at = service): Promise<Answer> {
  using connection = await connectRaw(at.url);
  await connection.send(text);
  return await logged(await connection.answer(method, path), at);
}

async function logged(answer: Answer, at = service): Promise<Answer> {
  const id = answer.headers.get('x-request-id');
  await eventually(() => at.log().filter((line) => line.msg === 'request' && line.id === id)).toMatchObject([
    { status: answer.status },
  ]);
  return answer;
}

const lineOf = ({ headers }: Answer, at = service) =>
  at.log().find(({ msg, id }) => msg === 'request' && id === headers.get('x-request-id'));

async function expectAlive(): Promise<void> {
  expect(await createApi(service.url).get('/healthz')).toMatchObject({ status: 200 });
}

const host = 'Host: localhost\r\n\r\n';
const malformed = { status: 400, problem: { code: 'malformed-request' } };

describe('a request target', () => {
  it.each([
    'http://',
    'https://',
    'ftp://',
    'x://',
    'http://?x',
    'http://[/',
    'https:///healthz',
    'ftp://localhost/healthz',
  ])('without a path of HTTP is answered 400: %s', async (target) => {
    expect(await ask(`GET ${target} HTTP/1.1\r\n${host}`)).toMatchObject(malformed);
    expect(await ask(`GET ${target} HTTP/1.1\r\n\r\n`)).toMatchObject(malformed);
    expect(await ask(`POST ${target} HTTP/1.0\r\n\r\n`)).toMatchObject(malformed);
    await expectAlive();
  });

  it.each(['OPTIONS *', 'GET localhost:80', 'GET [', 'GET //a@[\xa0#'])(
    'that is no path is answered 400: %s',
    async (line) => {
      expect(await ask(Buffer.from(`${line} HTTP/1.1\r\n${host}`, 'latin1'))).toMatchObject(malformed);
      await expectAlive();
    },
  );

  it('in absolute-form is routed by its path and checked by its host', async () => {
    expect(await ask(`GET http://LOCALHOST:1/api/v1/models?x HTTP/1.1\r\nHost: other\r\n\r\n`)).toMatchObject({
      status: 200,
    });
    expect(await ask(`GET http://localhost/api/v1/../healthz HTTP/1.1\r\n${host}`)).toMatchObject({ status: 404 });
    expect(await ask(`GET http://localhost HTTP/1.1\r\n${host}`)).toMatchObject({ status: 200 }); // the page
    expect(await ask(`GET http://other.example/api/v1/models HTTP/1.1\r\n${host}`)).toMatchObject({
      status: 403,
      problem: { code: 'host-not-allowed' },
    });
  });

  it('is logged without query and fragment, up to 200 characters', async () => {
    await using usual = await spawnService({ env: { PARLANCE_SANDBOX: '1' } }); // with the usual log level
    const send = (text: string) => ask(text, 'GET', '*', usual);
    const answer = await send(`GET /${'x'.repeat(5_000)}?query-secret#fragment-secret HTTP/1.1\r\n${host}`);
    expect(answer.status).toBe(404);
    expect(lineOf(answer, usual)).toMatchObject({ path: `/${'x'.repeat(199)}` });
    await send(`GET http://user-secret:password-secret@localhost/?query-secret HTTP/1.1\r\n${host}`);
    await send(`GET http://?query-secret HTTP/1.1\r\n${host}`);
    expect(usual.said.stdout).not.toContain('-secret');
  });
});

describe('errors that Node would answer without a problem document', () => {
  it.each<readonly [what: string, status: number, code: string, text: string]>([
    ['no HTTP', 400, 'malformed-request', 'Guten Tag!\r\n\r\n'],
    ['HTTP/2', 400, 'malformed-request', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['TLS', 400, 'malformed-request', '\x16\x03\x01\x02\0\x01\0'],
    ['a header without a colon', 400, 'malformed-request', `GET /healthz HTTP/1.1\r\nnonsense\r\n${host}`],
    [
      'two lengths',
      400,
      'malformed-request',
      'POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
    ],
    ['no Host', 400, 'malformed-request', 'GET /healthz HTTP/1.1\r\n\r\n'],
    ['an unknown expectation', 417, 'expectation-failed', `GET /healthz HTTP/1.1\r\nExpect: coffee\r\n${host}`],
    ['headers of 20 KB', 431, 'headers-too-large', `GET /healthz HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n${host}`],
    ['CONNECT', 405, 'method-not-allowed', `CONNECT localhost:80 HTTP/1.1\r\n${host}`],
  ])('is answered with one: %s', async (_what, status, code, text) => {
    expect(await ask(text)).toMatchObject({ status, problem: { code } });
    await expectAlive();
  });

  it.each([
    ['a chunk without a length', 'zz\r\n'],
    ['a chunk extension of 20 KB', `1;${'x'.repeat(20_000)}\r\n{\r\n`],
  ])('is answered under the id of the request whose body it is in: %s', async (_what, body) => {
    using connection = await connectRaw(service.url);
    const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' };
    await connection.send(`${requestHead('POST', '/api/v1/chat', headers)}${body}`);
    const answer = await logged(await connection.answer('POST', '*'));
    expect(answer).toMatchObject(malformed);
    expect(lineOf(answer)).toMatchObject({ method: 'POST', path: '/api/v1/chat', status: 400 });
    await expectClosed(connection);
  });

  it('lists the allowed methods when CONNECT is rejected', async () => {
    expect((await ask(`CONNECT localhost:80 HTTP/1.1\r\n${host}`)).headers.get('allow')).toBe('GET, HEAD, POST');
  });

  it('closes the connection', async () => {
    for (const text of ['nonsense\r\n\r\n', `CONNECT a:1 HTTP/1.1\r\n${host}`]) {
      using connection = await connectRaw(service.url);
      await connection.send(text);
      expect((await connection.answer('GET', '*')).headers.get('connection')).toBe('close');
      await expectClosed(connection);
    }
  });

  it('is sent after the pending responses of the connection', async () => {
    using connection = await connectRaw(service.url);
    await connection.send(`${requestHead('GET', '/healthz', {})}nonsense\r\n\r\n`);
    expect(await logged(await connection.answer('GET', '/healthz'))).toMatchObject({ status: 200 });
    expect(await logged(await connection.answer('GET', '*'))).toMatchObject(malformed);
    await expectClosed(connection);
  });

  it('responds to a request truncated by a half-close', async () => {
    const { hostname, port } = new URL(service.url);
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true }).end('GET / HTT');
    socket.setEncoding('utf8');
    const [text] = (await once(socket, 'data')) as [string];
    expect(text).toMatch(/^HTTP\/1.1 400 /);
    expect(text).toContain('"code":"malformed-request"');
    socket.destroy();
  });
});

describe('legal but rare requests', () => {
  it('ignores Upgrade', async () => {
    const headers = { upgrade: 'websocket', connection: 'Upgrade', 'sec-websocket-key': 'x' };
    expect(await ask(requestHead('GET', '/healthz', headers), 'GET', '/healthz')).toMatchObject({ status: 200 });
  });

  it('serves HTTP/1.0 without Host; open mode rejects it except for /healthz', async () => {
    expect(await ask('GET /healthz HTTP/1.0\r\n\r\n')).toMatchObject({ status: 200 });
    expect(await ask('GET /api/v1/models HTTP/1.0\r\n\r\n')).toMatchObject({
      status: 403,
      problem: { code: 'host-not-allowed' },
    });
  });
});

it('logs none of this as a service error', () => {
  expect(service.log().filter(({ level }) => level >= 40)).toEqual([]);
});

/** What is still read of a closing connection is bounded by time; the client's own end ends it at once. */
async function expectClosed(connection: RawConnection): Promise<void> {
  await eventually(() => connection.isOpen).toBe(false);
}
