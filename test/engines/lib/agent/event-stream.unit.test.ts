/** engines/lib/event-stream: what is read of a body, and when it is given up. */
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readEvents, type StreamEvent } from '../../../../engines/lib/agent/event-stream.ts';

const limits = { bytes: 10_000, idleMs: 1_000, isComplete: () => false, isEnough: () => false };

async function readAll(body: Readable, own: Partial<typeof limits> = {}): Promise<StreamEvent[]> {
  const events: StreamEvent[] = [];
  for await (const batch of readEvents(body, { ...limits, ...own })) events.push(...batch);
  return events;
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
        const pieces: Buffer[] = [];
        for (let at = 0; at < bytes.length;) {
          const { value: size } = sizes.next() as { value: number };
          pieces.push(bytes.subarray(at, at + size));
          at += size;
        }
        expect(await readAll(Readable.from(pieces))).toEqual(events);
      },
    ),
    { numRuns: 100 },
  );
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
