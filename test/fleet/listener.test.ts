/** The fleet port of a front, asked as no worker asks. */
import { once } from 'node:events';
import { readdirSync, readlinkSync } from 'node:fs';
import { truncate, writeFile } from 'node:fs/promises';
import { request, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import type { Logger } from '../../engines/contract/index.ts';
import { messagesOf, type WorkerConnection } from '../../src/fleet/call-protocol.ts';
import { fleetTimeouts } from '../../src/fleet/timeouts.ts';
import { listenForFleet } from '../../src/fleet/listener.ts';
import { createVerifier, sign } from '../../src/fleet/signature.ts';
import type { OpenCall } from '../../src/fleet/waiting-calls.ts';
import { freePort } from '../support/free-port.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const secret = 's'.repeat(32);
const log: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const path = '/fleet/v1/calls/0123456789abcdefghijkl';

let address: string;
let recordingPath: string;
let recording: { bytes: number };
let lines: WorkerConnection[];
let refusals: number;
let warnings: object[];

beforeEach(async () => {
  const dir = await temporaryDirectory();
  recordingPath = join(dir, 'recording');
  await writeFile(recordingPath, 'the bytes');
  lines = [];
  refusals = 0;
  warnings = [];
  log.warn = (fields) => void warnings.push(fields);
  const facts = { bytes: 9, container: 'wav', mediaType: 'audio/wav' } as const;
  recording = facts;
  const call: OpenCall = {
    document: {
      ...{ instance: 'local', call: { model: 'm' }, segments: false, scope: { caller: '', via: [] } },
      recording: facts,
    },
    recordingPath,
    get isTaken() {
      return lines.length > 0;
    },
    take: (line) => void lines.push(line),
    refuse: () => void (refusals += 1),
  };
  const port = await freePort();
  address = `http://127.0.0.1:${port}`;
  const listener = await listenForFleet({
    ...{ host: '127.0.0.1', port, address, log, verify: createVerifier(secret) },
    timeouts: { ...fleetTimeouts, heartbeatMs: 20, silenceMs: 60, headMs: 500, clipMs: 500 },
    find: (id) => (path.endsWith(`/${id}`) ? call : undefined),
    serve: () => undefined,
  });
  onTestFinished(() => listener[Symbol.asyncDispose]());
});

function ask(method: string, part = '', now = Date.now()): Promise<IncomingMessage> {
  const url = `${address}${path}${part}`;
  const headers = { authorization: sign(secret, { method, url }, now) };
  return new Promise((resolve, reject) => {
    const asking = request(url, { method, headers, agent: false }, resolve).on('error', reject);
    if (method === 'POST') asking.write('{"type":"alive"}\n');
    else asking.end();
  });
}

const statusOf = async (method: string, part?: string) => (await ask(method, part)).resume().statusCode;

test('a recording is served only to the worker that has opened the connection', async () => {
  expect(await statusOf('GET', '/recording')).toBe(409);
  expect(await statusOf('POST')).toBe(200);
  expect(await statusOf('POST')).toBe(409);
  expect(await text(await ask('GET', '/recording'))).toBe('the bytes');
});

test.each([
  ['PUT', '', 405],
  ['GET', '', 405],
  ['POST', '/recording', 405],
  ['GET', '/other', 410],
])('%s %s is answered with %d', async (method, part, status) => {
  expect(await statusOf(method, part)).toBe(status);
});

test('a worker whose clock is off is refused, and logged once with both times until its clock is right', async () => {
  const threeMinutesAgo = () => Date.now() - 180_000;
  for (let times = 0; times < 3; times++) expect((await ask('POST', '', threeMinutesAgo())).statusCode).toBe(401);
  expect(refusals, 'the call knows that workers could not take it').toBe(3);
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) as string;
  expect(warnings).toEqual([{ peer: '127.0.0.1', theirs: time, ours: time }]);
  expect(await statusOf('POST')).toBe(200);
  expect((await ask('POST', '', threeMinutesAgo())).statusCode).toBe(401);
  expect(warnings).toHaveLength(2);
});

test('a connection begins with the call, followed by heartbeats', async () => {
  const messages: unknown[] = [];
  const response = (await ask('POST')).on('error', () => {});
  for await (const message of messagesOf(response, () => {})) messages.push(message);
  expect(messages.slice(0, 2)).toEqual([
    { type: 'call', call: expect.objectContaining({ instance: 'local', call: { model: 'm' } }) as object },
    { type: 'alive' },
  ]);
});

test('a connection whose worker is silent is closed, and its messages end', async () => {
  const response = (await ask('POST')).resume().on('error', () => {});
  const messages: unknown[] = [];
  for await (const message of lines[0]!.messages) messages.push(message);
  expect(messages).toEqual([{ type: 'alive' }]);
  if (!response.closed) await once(response, 'close');
});

async function open(bytes: string): Promise<Socket> {
  const socket = connect(Number(new URL(address).port), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  socket.write(bytes);
  return socket.on('error', () => {});
}

test.each([
  ['nothing', ''],
  ['half of a head', 'POST /fleet/v1/calls/ HTTP/1.1\r\nHost: '],
])('a connection on which %s comes is closed', async (_what, bytes) => {
  const socket = await open(bytes);
  await once(socket.resume(), 'close');
});

test('a worker that does not read its recording is disconnected', async () => {
  recording.bytes = 32 * 1024 ** 2; // more than sockets buffer
  await truncate(recordingPath, recording.bytes);
  (await ask('POST')).on('error', () => {});
  (await ask('GET', '/recording')).on('error', () => {});
  expect(isOpen(recordingPath)).toBe(true);
  await expect.poll(() => isOpen(recordingPath)).toBe(false);
});

/** Whether this process has the file open (proc(5)). */
function isOpen(path: string): boolean {
  return readdirSync('/proc/self/fd').some((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`) === path;
    } catch {
      return false; // it has just been closed
    }
  });
}

test('a port in use prevents the start', async () => {
  const { port } = new URL(address);
  const none = () => undefined;
  const options = {
    host: '127.0.0.1',
    port: Number(port),
    address,
    log,
    verify: () => 'valid' as const,
    find: none,
    serve: none,
  };
  await expect(listenForFleet({ ...options, timeouts: fleetTimeouts })).rejects.toThrow(
    /^FLEET_LISTEN: cannot listen on/,
  );
});
