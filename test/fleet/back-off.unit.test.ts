import { expect, it } from 'vitest';
import { createBackOff } from '../../src/fleet/back-off.ts';

const start = () => createBackOff({ pauseMs: 1_000, maxPauseMs: 5_000 });

it('pauses after each returned call, with increasing duration up to a limit', () => {
  const backOff = start();
  const pauses = Array.from({ length: 5 }, () => backOff('returned'));
  expect(pauses).toEqual([1_000, 2_000, 4_000, 5_000, 5_000]);
});

it('pauses from the second consecutive failure of an engine, because the recording may have caused the first', () => {
  const backOff = start();
  expect([backOff('failed'), backOff('failed'), backOff('failed')]).toEqual([0, 1_000, 2_000]);
});

it('is reset by a completed call', () => {
  const backOff = start();
  backOff('returned');
  expect([backOff('done'), backOff('failed'), backOff('done'), backOff('returned')]).toEqual([0, 0, 0, 1_000]);
});
