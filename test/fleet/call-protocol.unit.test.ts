import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { messagesOf, startPulse } from '../../src/fleet/call-protocol.ts';

const ignore = () => {};

describe('messages', () => {
  async function read(...chunks: readonly (Buffer | Error)[]) {
    const stream = Readable.from(
      (function* () {
        for (const chunk of chunks) {
          if (chunk instanceof Error) throw chunk;
          yield chunk;
        }
      })(),
      { objectMode: false },
    );
    const messages: unknown[] = [];
    for await (const message of messagesOf(stream, ignore)) messages.push(message);
    return messages;
  }
  const alive = { type: 'alive' };
  const long = { type: 'result', transcript: { text: 'größer €', language: null } };

  it('are JSON lines, however the bytes are split', async () => {
    const bytes = Buffer.from(`${JSON.stringify(alive)}\n${JSON.stringify(long)}\n`);
    expect(await read(bytes)).toEqual([alive, long]);
    expect(await read(...[...bytes].map((byte) => Buffer.of(byte)))).toEqual([alive, long]);
  });

  it.each([
    ['is no JSON', 'what\n'],
    ['is no object', '[]\n'],
    ['has no type', '{}\n'],
    ['has no end', '{"type":"result"'],
  ])('end with one that %s', async (_what, text) => {
    expect(await read(Buffer.from(`${JSON.stringify(alive)}\n${text}`), Buffer.from('{"type":"never"}\n'))).toEqual([
      alive,
    ]);
  });

  it('end when the connection breaks', async () => {
    expect(await read(Buffer.from(`${JSON.stringify(alive)}\n`), new Error('ECONNRESET'))).toEqual([alive]);
  });
});

describe('the pulse', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());
  const timeouts = { heartbeatMs: 2_000, silenceMs: 6_000 };

  it('sends a heartbeat every 2 s, and ends after 6 s of silence', () => {
    const [send, dead] = [vi.fn(), vi.fn()];
    using pulse = startPulse(timeouts, send, dead);
    vi.advanceTimersByTime(5_000);
    expect(send).toHaveBeenCalledTimes(2);
    pulse.received();
    vi.advanceTimersByTime(5_999);
    expect(dead).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(dead).toHaveBeenCalledTimes(1);
  });

  it('stops when it is disposed of', () => {
    const [send, dead] = [vi.fn(), vi.fn()];
    startPulse(timeouts, send, dead)[Symbol.dispose]();
    vi.advanceTimersByTime(60_000);
    expect([send, dead].map((called) => called.mock.calls)).toEqual([[], []]);
  });
});
