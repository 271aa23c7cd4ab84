/** Recordings are read in turns, so that the event loop serves others in between. */
import { setImmediate as nextRound } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { scheduleRead } from '../../src/http/body/receive.ts';

test('reads run in order, a limited number per event loop iteration', async () => {
  const read: number[] = [];
  for (let upload = 0; upload < 20; upload += 1) scheduleRead(() => void read.push(upload));
  expect(read).toEqual([]);
  await nextRound();
  const first = read.length;
  expect([first > 0, first < 20]).toEqual([true, true]);
  await expect.poll(() => read.length).toBe(20);
  expect(read).toEqual(Array.from({ length: 20 }, (_, upload) => upload));
});

test('one that asks again is behind those that wait', async () => {
  const read: string[] = [];
  scheduleRead(() => {
    read.push('a');
    scheduleRead(() => void read.push('a again'));
  });
  scheduleRead(() => void read.push('b'));
  await expect.poll(() => read).toEqual(['a', 'b', 'a again']);
});
