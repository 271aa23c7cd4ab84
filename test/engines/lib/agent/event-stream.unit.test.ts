/** engines/lib/event-stream: what is read of a body, and when it is given up. */
import { Readable } from 'node:stream';
import fc from '../../../support/fast-check.ts';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { readEvents, type StreamEvent } from '../../../../engines/lib/agent/event-stream.ts';
import { stalled } from '../support.ts';

const limits = { bytes: 10_000, idleMs: 1_000, isComplete: () => false, isEnough: () => false };

async function readAll(body: Readable, own: Partial<typeof limits> = {}): Promise<StreamEvent[]> {
  const events: StreamEvent[] = [];
  for await (const batch of readEvents(body, { ...limits, ...own })) events.push(...batch);
  return events;
}

function cut(bytes: Buffer, sizes: Iterator<number>): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const { value: size } = sizes.next() as { value: number };
    pieces.push(bytes.subarray(at, at + size));
    at += size;
  }
  return pieces;
}

test('the events do not depend on where the bytes are cut', async () => {
  const text = fc
    .string({ unit: 'grapheme', maxLength: 20 })
    .filter((one) => !/[\r\n\0]/.test(one) && one === one.trim());
  const name = fc.constantFrom('', 'error', 'response.completed');
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(name, text), { maxLength: 8 }),
      fc.infiniteStream(fc.integer({ min: 1, max: 9 })),
      async (list, sizes) => {
        const events = list.map(([event, data]) => ({ name: event, data, whole: false }));
        const bytes = Buffer.from(
          list.map(([event, data]) => `${event === '' ? '' : `event: ${event}\n`}data: ${data}\n\n`).join('') +
            'data: half',
        );
        expect(await readAll(Readable.from(cut(bytes, sizes)))).toEqual(events);
      },
    ),
    { numRuns: 100 },
  );
});

test('whole events count without their blank lines, wherever the bytes are cut', async () => {
  const object = fc.dictionary(fc.constantFrom('a', 'b'), fc.constantFrom('}', '{', 'é', 1, { c: {} }), { maxKeys: 2 });
  const lineEnd = fc.constantFrom('\n', '\n\n', '\r\n', '\r\n\r\n', '\r\r');
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(object, lineEnd), { minLength: 1, maxLength: 6 }),
      fc.constantFrom('', '\n', 'data: {"ha', 'da', 'event: error\ndata: [DO'),
      fc.infiniteStream(fc.integer({ min: 1, max: 9 })),
      fc.boolean(),
      async (list, tail, sizes, isBroken) => {
        const data = list.map(([value]) => JSON.stringify(value));
        const lines = list.map(
          ([, end], index) => `data: ${data[index]!}${index < list.length - 1 || tail !== '' ? end : ''}`,
        );
        const body = Readable.from(cut(Buffer.from(lines.join('') + tail), sizes));
        const broken = isBroken ? breakingOff(body) : body;
        const seen: string[] = [];
        const options = { ...limits, isEnough: () => seen.length === data.length };
        for await (const batch of readEvents(broken, options)) seen.push(...batch.map((event) => event.data));
        expect(seen).toEqual(data);
      },
    ),
    { numRuns: 200 },
  );
});

/** The connection breaks after the last byte. */
function breakingOff(body: Readable): Readable {
  const broken = new Readable({ read: () => {} });
  body.on('data', (chunk: Buffer) => void broken.push(chunk));
  body.on('end', () => setImmediate(() => broken.destroy(new Error('ECONNRESET'))));
  return broken;
}

test('text that looks like an event does not end one', async () => {
  const body = Readable.from([Buffer.from('data: {"a":"'), Buffer.from('data: {}'), Buffer.from('"}\n\n')]);
  expect(await readAll(body)).toMatchObject([{ data: '{"a":"data: {}"}' }]);
});

test('JSON on several lines is one event', async () => {
  const body = Readable.from([
    Buffer.from('data: {"a": {}\n'),
    Buffer.from('data: }\ndata: \n\ndata: {"b":\ndata: 1}'),
  ]);
  expect(await readAll(body)).toMatchObject([{ data: '{"a": {}\n}\n' }, { data: '{"b":\n1}' }]);
});

test('an event without its blank line does not wait for the next one', async () => {
  const body = stalled('data: {"a":1}\n');
  const events = readEvents(body, limits);
  expect((await events.next()).value).toMatchObject([{ data: '{"a":1}' }]);
  body.push('\ndata: [DONE]');
  expect((await events.next()).value).toMatchObject([{ data: '[DONE]' }]);
  await events.return(undefined);
});

test('a JSON object is one event, however it comes', async () => {
  const pieces = ['\n ', '{"a":', '1}\n'].map((piece) => Buffer.from(piece));
  expect(await readAll(Readable.from(pieces))).toEqual([{ name: '', data: '{"a":1}\n', whole: true }]);
});

test('a body that is too long is given up', async () => {
  const endless = new Readable({ read: () => void endless.push(Buffer.alloc(1_000, 'x')) });
  await expect(readAll(endless)).rejects.toMatchObject({ code: 'provider-bad-response' });
  expect(endless.destroyed).toBe(true);
});

test('a body whose reader leaves is given up', async () => {
  const body = new Readable({ read: () => void body.push('data: x\n\n') });
  for await (const _batch of readEvents(body, limits)) break;
  expect(body.destroyed).toBe(true);
});

describe('a body that breaks off', () => {
  const breaks = (...chunks: readonly string[]) => {
    const body = stalled(...chunks);
    setImmediate(() => body.destroy(new Error('ECONNRESET')));
    return body;
  };

  test('is a bad response', async () => {
    const error = { code: 'provider-bad-response', cause: { message: 'ECONNRESET' } };
    await expect(readAll(breaks('data: x\n\n'))).rejects.toMatchObject(error);
  });

  test('is complete when what came is enough', async () => {
    const events = await readAll(breaks('data: x\n\n'), { isEnough: () => true });
    expect(events.map(({ data }) => data)).toEqual(['x']);
  });
});

describe('a silent body', () => {
  afterEach(() => void vi.useRealTimers());

  /** Reads with a clock that the test advances. */
  function reading(body: Readable, own: Partial<typeof limits> = {}) {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const outcome = readAll(body, own);
    outcome.catch(() => {}); // expected after the clock has advanced
    return { outcome, settled: () => Promise.race([outcome.then(() => true), tick().then(() => false)]) };
  }
  const tick = () => new Promise((resolve) => setImmediate(resolve));

  test('times out after the idle timeout, and is destroyed', async () => {
    const body = stalled('data: x\n\n');
    const { outcome, settled } = reading(body);
    await tick();
    await vi.advanceTimersByTimeAsync(limits.idleMs - 1);
    expect(await settled()).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await expect(outcome).rejects.toMatchObject({ code: 'provider-timeout' });
    expect(body.destroyed).toBe(true);
  });

  test('does not time out while bytes come, even comments', async () => {
    const body = stalled();
    const { outcome } = reading(body);
    for (let i = 0; i < 5; i += 1) {
      await tick();
      await vi.advanceTimersByTimeAsync(limits.idleMs - 1);
      body.push(': still there\n');
    }
    await tick();
    body.push('data: x\n\n');
    body.push(null);
    expect(await outcome).toHaveLength(1);
  });

  test('is complete 2 s after an answer that is enough', async () => {
    const { outcome, settled } = reading(stalled('data: x\n\n'), { idleMs: 60_000, isEnough: () => true });
    await tick();
    await vi.advanceTimersByTimeAsync(1_999);
    expect(await settled()).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(await outcome).toHaveLength(1);
  });

  test('has 100 ms to end once it is complete', async () => {
    const body = stalled('data: [DONE]\n\n');
    const { outcome } = reading(body, { isComplete: () => true, isEnough: () => true });
    await tick();
    expect(body.destroyed).toBe(false);
    await vi.advanceTimersByTimeAsync(100);
    expect(await outcome).toEqual([]);
    expect(body.destroyed).toBe(true);
  });
});
