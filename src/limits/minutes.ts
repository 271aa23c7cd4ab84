/** Counts the requests of each key in fixed windows of a minute, which begin with a request. */
import { createRequire } from 'node:module';

/** With the first keys: it brings its clients of ten databases. */
const loadLimiter = () =>
  createRequire(import.meta.url)('rate-limiter-flexible') as typeof import('rate-limiter-flexible');

export interface Minute {
  /** Requests in this window, with the one that has just been counted. */
  readonly used: number;
  /** Milliseconds since 1970. */
  readonly endsAt: number;
}

export interface MinuteCounter {
  /** Counts a request of the key, which may send `most` in a minute. */
  count(name: string, most: number): Promise<Minute>;
}

export const minuteSeconds = 60;

/** For this process. */
export function createMinuteCounter(): MinuteCounter {
  // It only counts: each key has a limit of its own, which a reload of the keys may change.
  const { RateLimiterMemory } = loadLimiter();
  const limiter = new RateLimiterMemory({ points: Number.MAX_SAFE_INTEGER, duration: minuteSeconds });
  return {
    async count(name) {
      const { consumedPoints, msBeforeNext } = await limiter.consume(name);
      return { used: consumedPoints, endsAt: Date.now() + msBeforeNext };
    },
  };
}
