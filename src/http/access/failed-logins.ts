/** Limits failed authentications per address. Requests with a valid key always pass, even from a limited address. */
import type { Logger } from '../../../engines/contract/index.ts';
import { ProblemError } from '../../contract/problems.ts';

export interface FailedLogins {
  /** Counts an unknown token. Throws `rate-limited` after too many in one minute. */
  count(address: string): void;
}

const maxPerMinute = 10;
const windowMs = 60_000;
/** Bounds memory use. An attacker with more addresses than this is not limited. */
const maxAddresses = 10_000;

interface Window {
  readonly ends: number;
  failures: number;
}

/** `now` returns milliseconds since the epoch. */
export function createFailedLogins(log: Pick<Logger, 'warn'>, now: () => number = Date.now): FailedLogins {
  /** Windows by address, oldest first. */
  const windows = new Map<string, Window>();

  function windowOf(address: string, time: number): Window {
    const known = windows.get(address);
    if (known && known.ends > time) return known;
    windows.delete(address);
    for (const [other, { ends }] of windows) {
      if (ends > time && windows.size < maxAddresses) break;
      windows.delete(other);
    }
    const window = { ends: time + windowMs, failures: 0 };
    windows.set(address, window);
    return window;
  }

  return {
    count(address) {
      const time = now();
      const window = windowOf(address, time);
      window.failures += 1;
      if (window.failures <= maxPerMinute) return;
      if (window.failures === maxPerMinute + 1) log.warn({ address }, 'too many unknown API keys from one address');
      const seconds = Math.ceil((window.ends - time) / 1000);
      const detail = `Too many unknown API keys from this address; try again in ${String(seconds)} s.`;
      throw new ProblemError('rate-limited', detail, { headers: { 'Retry-After': String(seconds) } });
    },
  };
}
