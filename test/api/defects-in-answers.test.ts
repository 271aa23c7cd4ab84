/** What reaches Koa: a defect of ours is logged at error and answered with a problem; a broken connection is neither. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { expect, it, onTestFinished } from 'vitest';
import type { AnyAnswer } from '../../src/contract/operations.ts';
import { createApp, type AppOptions } from '../../src/http/app.ts';
import { createAccess } from '../../src/http/access/auth.ts';
import { createClientSecrets, createSecretStore } from '../../src/keys/client-secrets.ts';
import { createRateWatch } from '../../src/http/body/min-rate.ts';
import { nativeFormat } from '../../src/http/native-format.ts';
import type { Respond } from '../../src/http/incoming-request.ts';
import { ByteBudget } from '../../src/http/body/body-budget.ts';
import { createApi } from '../support/http.ts';
import type { LogLine } from '../support/service.ts';
import { eventually } from './support/eventually.ts';
import { connectRaw, requestHead } from './support/raw-socket.ts';

type Level = 'debug' | 'info' | 'warn' | 'error';

const failedLogins = { count: () => undefined };

const noRouter: Respond = () => Promise.reject(new Error('no router'));

const answering =
  (answer: AnyAnswer): Respond =>
  (request) =>
    Promise.resolve({ answer, scope: request.scope });

const clientSecrets = createClientSecrets(createSecretStore(), undefined);
const withoutKeys = { keys: undefined, clientSecrets, failedLogins, allowOpen: false };

/** An app of its own on a socket, with one part of it replaced. */
async function serve({ respond = noRouter, ...options }: Partial<AppOptions> & { respond?: Respond }) {
  const lines: { level: Level; msg: string; facts: Partial<LogLine> }[] = [];
  const write = (level: Level) => (facts: object, msg: string) => void lines.push({ level, msg, facts });
  const log = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
  const { listener } = createApp({
    apiFor: () => ({ ...nativeFormat, respond, connect: noRouter }),
    access: createAccess({ ...withoutKeys, corsOrigins: [] }),
    budget: new ByteBudget({ reserve: 0, shared: 0 }),
    arrivals: createRateWatch(),
    bodyTimeoutMs: 1_000,
    uploadTimeoutMs: 1_000,
    readyProbe: () => Promise.resolve({}),
    heartbeatMs: 1_000,
    socketCheckMs: 1_000,
    page: new Map(),
    trustProxy: 0,
    servesThisMachineOnly: false,
    viaId: 'a service',
    temporaryDirectory: () => Promise.reject(new Error('no directory')),
    ending: new AbortController().signal,
    log,
    ...options,
  });
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, log, lines, at: (level: Level) => lines.filter((line) => line.level === level) };
}

it('an error that reaches Koa becomes a problem and is logged at error', async () => {
  const unsendable = { status: 200, mediaType: 'application/json', headers: { ETag: '"1"' }, body: 1n };
  const access = createAccess({ ...withoutKeys, corsOrigins: ['*'] });
  const { url, log, at } = await serve({ access, respond: answering(unsendable) });
  const write = log.error;
  log.error = () => {
    log.error = write;
    throw new TypeError('the log is broken');
  };
  const answer = await createApi(url).get('/api/v1/none', { origin: 'https://a.example' });
  expect(answer).toMatchObject({ status: 500, problem: { code: 'internal-error' } });
  expect(answer.text).not.toContain('the log');
  expect(answer.headers.get('etag')).toBeNull();
  expect(answer.headers.get('access-control-allow-origin')).toBe('https://a.example');
  const id = answer.headers.get('x-request-id');
  expect(at('error')).toMatchObject([{ facts: { id, err: { message: 'the log is broken' } } }]);
  await eventually(() => at('info')).toMatchObject([{ msg: 'request', facts: { id, status: 500 } }]);
});

it('a connection error during a response is logged at debug', async () => {
  const endless = async function* () {
    for (;;) yield await Promise.resolve(Buffer.alloc(65_536));
  };
  const { url, lines, at } = await serve({
    respond: answering({ status: 200, mediaType: 'audio/mpeg', body: Readable.from(endless()) }),
  });
  const connection = await connectRaw(url);
  await connection.send(requestHead('GET', '/api/v1/none', {}));
  await eventually(() => connection.received.length).toBeGreaterThan(100_000);
  connection[Symbol.dispose]();
  await eventually(() => lines.map(({ msg }) => msg)).toContain('request');
  expect([...at('warn'), ...at('error')]).toEqual([]);
  expect(at('info')).toMatchObject([{ facts: { status: 499 } }]);
});
