/** A source is read before its reader asks, up to a limit, and ends with its signal. */
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { readAhead } from '../../lib/read-ahead.ts';

const never = new AbortController().signal;

/** Counts what was read of it. */
function counting(failsAt = Infinity) {
  const seen = { read: 0, isClosed: false };
  async function* numbers() {
    try {
      for (let n = 1; ; n++) {
        await setImmediate();
        if (n === failsAt) throw new Error('no more');
        seen.read = n;
        yield n;
      }
    } finally {
      seen.isClosed = true;
    }
  }
  return { source: numbers(), seen };
}

/** The source has had time for all that it may read. */
async function settled(): Promise<void> {
  for (let i = 0; i < 50; i++) await setImmediate();
}

test('reads up to the limit before the first item is requested, and on when an item has been taken', async () => {
  const { source, seen } = counting();
  const read = readAhead(source, { sizeOf: () => 2, limit: 6, signal: never });
  await settled();
  expect(seen.read).toBe(3);
  expect((await read.next()).value).toBe(1);
  await settled();
  expect(seen.read).toBe(4);
});

test('throws the failure after the items before it', async () => {
  const read = readAhead(counting(3).source, { sizeOf: () => 1, limit: 9, signal: never });
  await settled();
  expect([await read.next(), await read.next()].map(({ value }) => value as number)).toEqual([1, 2]);
  await expect(read.next()).rejects.toThrow('no more');
});

test('ends as the source does', async () => {
  async function* two() {
    yield await Promise.resolve('a');
    yield 'b';
  }
  const items: string[] = [];
  for await (const item of readAhead(two(), { sizeOf: () => 1, limit: 1, signal: never })) items.push(item);
  expect(items).toEqual(['a', 'b']);
});

test('closes a source that waits for its reader when the signal aborts', async () => {
  const { source, seen } = counting();
  const caller = new AbortController();
  const read = readAhead(source, { sizeOf: () => 1, limit: 1, signal: caller.signal });
  await settled();
  caller.abort(new Error('gone'));
  await settled();
  expect(seen).toEqual({ read: 1, isClosed: true });
  expect((await read.next()).value).toBe(1);
  await expect(read.next()).rejects.toThrow('gone');
});
