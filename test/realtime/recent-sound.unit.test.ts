import { expect, it } from 'vitest';
import { RecentSound } from '../../src/realtime/turn-recording.ts';

const frame = (value: number) => ({ samples: new Int16Array(2).fill(value), rate: 100 });

it('keeps the last moments, and what it has returned does not change', () => {
  const recent = new RecentSound();
  for (let i = 1; i <= 5; i++) recent.push(frame(i), 20 * i, 60);
  const sound = recent.since(60);
  expect(sound).toEqual([frame(4), frame(5)]);
  for (let i = 6; i <= 9; i++) recent.push(frame(i), 20 * i, 60);
  expect(recent.since(0)).toEqual([frame(7), frame(8), frame(9)]);
  expect(sound).toEqual([frame(4), frame(5)]);
});
