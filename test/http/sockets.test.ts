/** WebSockets: what a session may rely on, and clients that break the rules. */
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, test, vi } from 'vitest';
import type { TextSocket } from '../../src/contract/session.ts';
import * as ws from 'ws';
import type { WebSocket } from 'ws';
import { connectRaw } from '../api/support/raw-socket.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { connect, echo, upgradeRequest, useSessions } from './support/sessions.ts';

const engines = { config: 'engines: { made-up: { use: sandbox } }\n' };
const megabyte = 1_048_576;

/** Facts of the sessions, by the first message of each, which names what it does. */
const sessions = new Map<string, { readonly socket: TextSocket; handled: number; readonly over: Promise<void> }>();

/** The types of ws lack it. */
interface Receiver {
  readonly _isServer: boolean;
  _write(this: Receiver, ...args: readonly unknown[]): void;
}
const { prototype: receiver } = (ws as unknown as { readonly Receiver: { readonly prototype: Receiver } }).Receiver;

/** Iterations of the event loop while a busy session handled its messages. */
let iterations = 0;

useSessions(async (socket, place) => {
  const { promise: over, resolve } = Promise.withResolvers<undefined>();
  const reader = socket.messages[Symbol.asyncIterator]();
  const first = await reader.next();
  const name = String(first.done === true ? '' : first.value.text);
  const session = { socket, handled: 0, over };
  sessions.set(name, session);
  if (name.startsWith('echo')) await echo(socket, place);
  if (name.startsWith('fail')) throw new TypeError('a defect of the session');
  if (name.startsWith('flood')) {
    while (!socket.signal.aborted && session.handled < 40) {
      socket.send('x'.repeat(megabyte));
      await socket.drained(megabyte / 2);
      session.handled += 1;
    }
  }
  if (name.startsWith('busy')) {
    const count = () => {
      iterations += 1;
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    for await (const _message of socket.messages) {
      for (const end = performance.now() + 1; performance.now() < end;); // a millisecond of work
      session.handled += 1;
      if (session.handled === 100) break;
    }
    clearImmediate(next);
  }
  if (name.startsWith('hold')) for await (const _message of socket.messages) session.handled += 1;
  resolve(undefined);
});

let service: TestService;
/** Megabytes take longer than a few quick checks on a busy machine. */
let patient: TestService;
beforeAll(async () => {
  service = await startTestService({ ...engines, socketCheckMs: 50 });
  patient = await startTestService(engines);
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await patient[Symbol.asyncDispose]();
});

async function open(name: string, options: Parameters<typeof connect>[1] = {}, to = service) {
  const client = await connect(to, options);
  client.ws.send(name);
  await expect.poll(() => sessions.has(name)).toBe(true);
  return { ...client, session: sessions.get(name)! };
}

describe('a session', () => {
  it('gets a message of 3 MB, and ends with 1009 after one of more than 4 MiB', async () => {
    const { ws, next, closed } = await open('echo large', {}, patient);
    const large = '0123456789'.repeat(0.3 * megabyte);
    ws.send(large);
    expect(await next()).toBe(large);
    ws.send('x'.repeat(4 * megabyte + 1));
    expect(await closed).toBe(1009);
  });

  it('lets timers and other sockets have their turn while it handles messages that came at once', async () => {
    const { ws, session } = await open('busy');
    const { _socket: socket } = ws as unknown as { readonly _socket: Socket };
    socket.write(Buffer.concat(Array<Buffer>(100).fill(frame(text, 'work'))));
    await session.over;
    expect(iterations).toBeGreaterThan(10);
  });

  it('is closed with 1000 when it returns, and with 1011 when it throws', async () => {
    expect(await (await open('return')).closed).toBe(1000);
    expect(await (await open('fail')).closed).toBe(1011);
    expect(service.log).toContainEqual(expect.objectContaining({ msg: 'a session failed' }));
  });

  it('gets the abort of its signal when the client vanishes, and sending is no error then', async () => {
    const { ws, session } = await open('hold vanish');
    ws.terminate();
    await session.over;
    expect(session.socket.signal.aborted).toBe(true);
    session.socket.send('this is not read');
    session.socket.close(1000);
  });

  it('waits for a client that does not read, and is closed with 1013', async () => {
    const { ws, closed } = await connect(service, { maxPayload: 2 * megabyte });
    ws.pause();
    ws.send('flood stalled');
    await expect.poll(() => sessions.has('flood stalled')).toBe(true);
    const session = sessions.get('flood stalled')!;
    await session.over;
    expect(session.handled).toBeLessThan(40);
    ws.resume();
    expect(await closed).toBe(1013);
  });

  it('sends everything to a client that reads', async () => {
    const { ws, next, closed } = await open('flood read', {}, patient);
    for (let i = 0; i < 40; i += 1) expect(await next()).toHaveLength(megabyte);
    ws.close();
    expect(await closed).toBe(1000);
  });

  it('ends when the client answers no pings, and not while it does', async () => {
    const alive = await open('echo alive');
    const dead = await open('hold dead', { autoPong: false });
    expect(await dead.closed).toBe(1006);
    alive.ws.send('still here');
    expect(await alive.next()).toBe('still here');
  });

  it('ends with 1012 after the DRAIN_DELAY if it is idle, else at the end of the grace', async () => {
    await using ending = await startTestService(engines);
    const [idle, busy] = [await connect(ending), await connect(ending)];
    idle.ws.send('echo idle');
    busy.ws.send('hold busy');
    await expect.poll(() => sessions.has('echo idle') && sessions.has('hold busy')).toBe(true);
    ending.service.drain();
    await expect(connect(ending)).rejects.toThrow('Unexpected server response: 503');
    idle.ws.send('still here');
    expect(await idle.next()).toBe('still here');
    const stopped = ending.service.stop(60_000);
    expect(await idle.closed).toBe(1012);
    void ending.service.stop(0);
    expect(await busy.closed).toBe(1012);
    await stopped;
  });
});

/** A client frame. */
function frame(
  firstByte: number,
  payload: Buffer | string,
  { isMasked = true, length = Buffer.byteLength(payload) } = {},
) {
  const mask = Buffer.from([1, 2, 3, 4]);
  const bytes = Buffer.from(payload).map((byte, i) => (isMasked ? byte ^ mask[i % 4]! : byte));
  const head = length < 126 ? [length] : [126, length >> 8, length & 255];
  head[0]! |= isMasked ? 128 : 0;
  return Buffer.concat([Buffer.from([firstByte, ...head]), isMasked ? mask : Buffer.alloc(0), bytes]);
}

const text = 0x81;

test.each([
  ['an unmasked frame', frame(text, 'hi', { isMasked: false }), 1002],
  ['reserved bits, as of compression', frame(0xc1, 'hi'), 1002],
  ['an unknown opcode', frame(0x83, 'hi'), 1002],
  ['a continuation of nothing', frame(0x80, 'hi'), 1002],
  ['a second text before the end of the first', Buffer.concat([frame(0x01, 'hi'), frame(text, 'hi')]), 1002],
  ['a fragmented ping', frame(0x09, 'hi'), 1002],
  ['a ping of more than 125 bytes', frame(0x89, 'x'.repeat(126)), 1002],
  ['text that is not UTF-8', frame(text, Buffer.from([0xff, 0xfe])), 1007],
  ['a close frame with an invalid code', frame(0x88, Buffer.from([0, 1])), 1002],
  ['a length of 8 exabytes', Buffer.from([text, 0xff, 0x7f, 255, 255, 255, 255, 255, 255, 255]), 1009],
  ['65 fragments', Buffer.concat([frame(0x01, 'x'), ...Array<Buffer>(64).fill(frame(0x00, 'x'))]), 1008],
])('%s ends the session alone', async (what, bytes, code) => {
  const other = await open(`echo beside ${what}`);
  const { ws, closed } = await connect(service);
  const { _socket: socket } = ws as unknown as { readonly _socket: Socket };
  socket.write(bytes);
  expect(await closed).toBe(code);
  other.ws.send('still here');
  expect(await other.next()).toBe('still here');
});

test('pongs that no one waits for are read in turns: others wait for one read', async () => {
  const { ws, session } = await open('hold pongs', {}, patient);
  let reads = 0;
  let most = 0;
  const { _write: own } = receiver;
  using _watched = vi.spyOn(receiver, '_write').mockImplementation(function (this: Receiver, ...args) {
    if (this._isServer) reads += 1;
    most = Math.max(most, reads);
    own.apply(this, args);
  });
  const count = () => {
    reads = 0;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  onTestFinished(() => clearImmediate(next));
  const { _socket: socket } = ws as unknown as { readonly _socket: Socket };
  const pongs = Buffer.alloc(8 * megabyte, frame(0x8a, 'x'.repeat(122))); // of 128 bytes
  socket.write(Buffer.concat([pongs, frame(text, 'done')]));
  await expect.poll(() => session.handled, { timeout: 20_000 }).toBe(1);
  expect(most).toBeLessThanOrEqual(2);
});

describe('a message in parts', () => {
  const write = (ws: WebSocket, ...frames: readonly Buffer[]) => {
    const { _socket: socket } = ws as unknown as { readonly _socket: Socket };
    socket.write(Buffer.concat(frames));
  };

  it('arrives in 64 fragments, also with a ping in between', async () => {
    const { ws, next } = await open('echo fragments');
    const rest = Array<Buffer>(62).fill(frame(0x00, 'x'));
    write(ws, frame(0x01, 'x'), frame(0x89, 'ping'), ...rest, frame(0x80, 'x'));
    expect(await next()).toBe('x'.repeat(64));
  });

  it.each([
    ['half of a frame', frame(text, 'abc').subarray(0, 7)],
    ['half of its head', frame(text, 'abc').subarray(0, 1)],
    ['a fragment without the last one', frame(0x01, 'abc')],
  ])('that stays incomplete ends its session with 1008, whatever pongs say: %s', async (what, bytes) => {
    const { ws, closed } = await open(`echo ${what}`, { autoPong: false });
    write(ws, bytes);
    expect(await closed).toBe(1008);
  });
});

test('half of an upgrade, or of a frame, and then nothing or a FIN takes no place for ever', async () => {
  await using small = await startTestService({
    ...engines,
    env: { REALTIME_SESSIONS: '1' },
    connectionLimits: { headMs: 2_000 }, // the others must not be late, too
  });
  using half = await connectRaw(small.url);
  await half.send(upgradeRequest().slice(0, 60));
  using framed = await connectRaw(small.url);
  await framed.send(upgradeRequest());
  await expect.poll(() => framed.received).toContain('101 Switching Protocols');
  await framed.send(frame(text, 'abc').subarray(0, 4));
  framed.halfClose();
  await framed.closed;
  await half.closed;
  expect(half.received).toContain('408 Request Timeout');
  await expect.poll(() => small.log.some(({ status }) => status === 101)).toBe(true);
  await connect(small);
});
