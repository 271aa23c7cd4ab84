/** Work in pieces takes turns, so that the event loop serves others in between. */
import { setImmediate as nextRound } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { inTurn } from '../../lib/event-loop.ts';

test('pieces run in order, a limited number per event loop iteration', async () => {
  const run: number[] = [];
  for (let piece = 0; piece < 20; piece += 1) inTurn(() => void run.push(piece));
  expect(run).toEqual([]);
  await nextRound();
  const first = run.length;
  expect([first > 0, first < 20]).toEqual([true, true]);
  await expect.poll(() => run.length).toBe(20);
  expect(run).toEqual(Array.from({ length: 20 }, (_, piece) => piece));
});

test('one that asks again is behind those that wait', async () => {
  const run: string[] = [];
  inTurn(() => {
    run.push('a');
    inTurn(() => void run.push('a again'));
  });
  inTurn(() => void run.push('b'));
  await expect.poll(() => run).toEqual(['a', 'b', 'a again']);
});
