/** TLS_CERT and TLS_KEY: https and wss on the main port. */
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { copyFile, readdir, readFile, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { connect as connectTcp } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { IncomingMessage } from 'node:http';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished, test } from 'vitest';
import { startTestService, type TestService, type TestServiceOptions } from '../support/service.ts';
import { connect, useSessions } from './support/sessions.ts';

const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/tls/${name}`, import.meta.url));
const localhost = { cert: fixture('localhost.pem'), key: fixture('localhost-key.pem') };
const other = { cert: fixture('certificate.pem'), key: fixture('key.pem') };
const ca = await readFile(localhost.cert);

const engines = { config: 'engines: { made-up: { use: sandbox } }\n' };

useSessions();

const start = ({ cert, key }: { cert: string; key: string }, options: TestServiceOptions = {}) =>
  startTestService({
    ...engines,
    ...options,
    env: { TLS_CERT: cert, TLS_KEY: key, ...options.env },
  });

async function get(
  { url }: Pick<TestService, 'url'>,
  path: string,
  trusted: string | Buffer | readonly string[] = ca,
): Promise<{ status?: number; body: string }> {
  const sending = request(`${url}${path}`, { ca: trusted as string, agent: false }).end();
  const [response] = (await once(sending, 'response')) as [IncomingMessage];
  return { status: response.statusCode!, body: (await buffer(response)).toString() };
}

it('serves https and wss', async () => {
  await using service = await start(localhost);
  expect(service.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
  expect(await get(service, '/healthz')).toEqual({ status: 200, body: '{"status":"ok"}' });
  const { ws, next } = await connect(service, { ca });
  const large = 'x'.repeat(3_000_000);
  ws.send(large);
  expect(await next()).toBe(large);
  ws.terminate();
  await expect.poll(() => service.log.some(({ close }) => close === 1006)).toBe(true);
});

/** A service whose pair can be replaced. */
async function startReplaceable(pair: { cert: string; key: string }) {
  const texts = { 'cert.pem': await readFile(pair.cert, 'utf8'), 'key.pem': await readFile(pair.key, 'utf8') };
  const service = await start({ cert: 'cert.pem', key: 'key.pem' }, { files: texts });
  return { service, files: { cert: join(service.dir, 'cert.pem'), key: join(service.dir, 'key.pem') }, texts };
}

const lineOf = ({ log }: TestService, message: string) => log.filter(({ msg }) => msg.startsWith(message));

it('uses a renewed pair after a reload, for new connections', async () => {
  const { service, files } = await startReplaceable(other);
  await using _service = service;
  const open = await connect(service, { ca: await readFile(other.cert), servername: 'provider.test' });
  await copyFile(localhost.cert, files.cert);
  await copyFile(localhost.key, files.key);
  await service.service.reload();
  expect(await get(service, '/healthz')).toMatchObject({ status: 200 });
  open.ws.send('still here');
  expect(await open.next()).toBe('still here');
});

it('keeps the pair when the files are empty, cut off, expired or of another pair, and logs the reason', async () => {
  const { service, files, texts } = await startReplaceable(localhost);
  await using _service = service;
  const wrong: [file: 'cert' | 'key', text: string, reason: string][] = [
    ['cert', '', 'TLS_CERT: FILE is empty'],
    ['key', '', 'TLS_KEY: FILE is empty'],
    ['cert', texts['cert.pem'].slice(0, 300), 'TLS_CERT: FILE is cut off'],
    ['key', texts['key.pem'].slice(0, 100), 'TLS_KEY: FILE is cut off'],
    ['cert', await readFile(fixture('expired.pem'), 'utf8'), 'TLS_CERT: FILE expired on 2021-03-01'],
    ['cert', await readFile(other.cert, 'utf8'), 'is not the private key of the first certificate'],
    ['key', await readFile(other.key, 'utf8'), 'TLS_KEY: FILE is not the private key'],
  ];
  for (const [file, text, reason] of wrong) {
    await writeFile(files[file], text);
    await service.service.reload();
    await writeFile(files[file], texts[`${file}.pem`]);
    expect(service.log.at(-1)).toMatchObject({
      level: 50,
      msg: 'the certificate is invalid; the previous one stays in effect',
      reason: expect.stringContaining(reason.replace('FILE', files[file])) as string,
    });
    expect(await get(service, '/healthz')).toMatchObject({ status: 200 });
  }
  expect(lineOf(service, 'the certificate was reloaded')).toEqual([]);
});

it('sends the chain, and warns of an expired intermediate certificate that clients may not need', async () => {
  const [leaf, intermediate] = (await readFile(fixture('chain.pem'), 'utf8')).split(/(?<=-----END CERTIFICATE-----\n)/);
  const expired = await readFile(fixture('expired-intermediate.pem'), 'utf8');
  const { service, files } = await startReplaceable({ cert: fixture('chain.pem'), key: localhost.key });
  await using _service = service;
  const root = await readFile(fixture('root.pem'), 'utf8');
  expect(await get(service, '/healthz', root)).toMatchObject({ status: 200 });
  expect(lineOf(service, 'a certificate of TLS_CERT')).toEqual([]);
  await writeFile(files.cert, leaf! + expired);
  await service.service.reload();
  expect(await get(service, '/healthz', [root, intermediate!])).toMatchObject({ status: 200 });
  await expect(get(service, '/healthz', root)).rejects.toThrow('expired');
  expect(lineOf(service, 'a certificate of TLS_CERT')).toEqual([
    expect.objectContaining({ level: 40, subject: 'CN=intermediate.test', ends: '2021-09-30' }),
  ]);
});

const wrongKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' });

test.each([
  ['TLS_KEY: not set', { TLS_CERT: localhost.cert }],
  ['TLS_CERT: not set', { TLS_KEY: localhost.key }],
  ['TLS_CERT: /nowhere.pem cannot be read: ENOENT', { TLS_CERT: '/nowhere.pem', TLS_KEY: localhost.key }],
  [`TLS_CERT: ${localhost.key} is a private key`, { TLS_CERT: localhost.key, TLS_KEY: localhost.cert }],
  ['is not the private key of the first certificate', { TLS_CERT: localhost.cert, TLS_KEY: 'wrong.pem' }],
  ['expired on 2021-03-01', { TLS_CERT: fixture('expired.pem'), TLS_KEY: localhost.key }],
  ['/dev/null is empty', { TLS_CERT: '/dev/null', TLS_KEY: '/dev/null' }],
])('the start is refused: %s', async (message, env) => {
  const starting = startTestService({ ...engines, files: { 'wrong.pem': wrongKey.toString() }, env });
  await expect(starting).rejects.toThrow(message);
});

it('handshakes count as connections, and are given up', async () => {
  await using service = await start(localhost, { connectionLimits: { connections: 2, headMs: 300 } });
  const { port } = new URL(service.url);
  const silent = Array.from({ length: 6 }, () => connectTcp(Number(port), '127.0.0.1'));
  onTestFinished(() => silent.forEach((socket) => void socket.destroy()));
  const closed = silent.map((socket) => once(socket.on('error', () => undefined).resume(), 'close'));
  await Promise.all(closed.slice(0, 4)); // evicted
  expect(await get(service, '/healthz')).toMatchObject({ status: 200 });
  await Promise.all(closed);
});

it('plain http gets no answer, and other connections continue', async () => {
  await using service = await start(localhost);
  const { port } = new URL(service.url);
  const kept: TLSSocket = connectTls({ port: Number(port), host: '127.0.0.1', ca });
  onTestFinished(() => void kept.destroy());
  await once(kept, 'secureConnect');
  const plain = connectTcp(Number(port), '127.0.0.1').on('error', () => undefined);
  plain.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await once(plain.resume(), 'close');
  kept.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
  expect((await buffer(kept)).toString()).toContain('200 OK');
});

it('a reader that reads nothing of its response is disconnected', async () => {
  await using service = await start(localhost, { connectionLimits: { stalledMs: 240 } });
  const { port } = new URL(service.url);
  const stalled = connectTls({ port: Number(port), host: '127.0.0.1', ca });
  onTestFinished(() => void stalled.destroy());
  await once(stalled, 'secureConnect');
  stalled.on('error', () => undefined).pause();
  // The largest file of the page does not fit into the buffers of the kernel.
  const assets = await readdir(new URL('../../generated/page/assets', import.meta.url));
  const path = `/assets/${assets.find((name) => name.startsWith('scalar-'))!.replace(/\.gz$/, '')}`;
  stalled.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(4));
  await expect
    .poll(() => service.log.some(({ msg }) => msg === 'closed a connection with a stalled reader'))
    .toBe(true);
});
