import { expect, it } from 'vitest';
import type { ProblemError } from '../../src/contract/problems.ts';
import { createFailedLogins } from '../../src/http/access/failed-logins.ts';

function start() {
  const clock = { now: 1_000_000 };
  const warnings: unknown[] = [];
  const log = { warn: (facts: unknown) => void warnings.push(facts) };
  const failedLogins = createFailedLogins(log, () => clock.now);
  /** Seconds to wait; 0: counted. */
  const guess = (address: string): number => {
    try {
      failedLogins.count(address);
      return 0;
    } catch (error) {
      expect(error).toMatchObject({ code: 'rate-limited' });
      return Number((error as ProblemError).headers['Retry-After']);
    }
  };
  return { clock, warnings, guess };
}

const times = (count: number, act: () => number) => Array.from({ length: count }, act);

it('refuses the eleventh unknown token of a minute, per address, and warns once', () => {
  const { clock, warnings, guess } = start();
  expect(times(10, () => guess('192.0.2.1'))).toEqual(Array(10).fill(0));
  clock.now += 20_500;
  expect(times(3, () => guess('192.0.2.1'))).toEqual([40, 40, 40]);
  expect(guess('192.0.2.2')).toBe(0);
  expect(warnings).toEqual([{ address: '192.0.2.1' }]);
});

it('is reset after a minute', () => {
  const { clock, warnings, guess } = start();
  times(11, () => guess('192.0.2.1'));
  clock.now += 59_999;
  expect(guess('192.0.2.1')).toBe(1);
  clock.now += 1;
  expect(times(11, () => guess('192.0.2.1')).at(-1)).toBe(60);
  expect(warnings).toHaveLength(2);
});

it('tracks the 10,000 newest addresses', () => {
  const { guess } = start();
  times(11, () => guess('the oldest'));
  for (let address = 0; address < 9_999; address += 1) guess(String(address));
  expect(guess('the oldest')).toBe(60);
  guess('one more');
  expect(guess('the oldest')).toBe(0);
});
