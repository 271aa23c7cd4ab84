import { expect, it } from 'vitest';
import { createBackOff } from '../../src/fleet/back-off.ts';

const start = () => createBackOff({ pauseMs: 1_000, longestPauseMs: 5_000 });

it('pauses after each call that a worker hands back, longer each time, up to a bound', () => {
  const backOff = start();
  const pauses = Array.from({ length: 5 }, () => backOff('returned'));
  expect(pauses).toEqual([1_000, 2_000, 4_000, 5_000, 5_000]);
});

it('pauses from the second failure of an engine in a row: one may be due to the recording', () => {
  const backOff = start();
  expect([backOff('failed'), backOff('failed'), backOff('failed')]).toEqual([0, 1_000, 2_000]);
});

it('begins anew when a call is done', () => {
  const backOff = start();
  backOff('returned');
  expect([backOff('done'), backOff('failed'), backOff('done'), backOff('returned')]).toEqual([0, 0, 0, 1_000]);
});
