/** Counts the requests of each key in fixed one-minute windows. A window begins with a request. */
import { createRequire } from 'node:module';

/** Loaded only if there are keys, because the package loads clients for ten databases. */
const loadLimiter = () =>
  createRequire(import.meta.url)('rate-limiter-flexible') as typeof import('rate-limiter-flexible');

export interface Minute {
  /** Requests in this window, including the one just counted. */
  readonly used: number;
  /** End of the window, in milliseconds since 1970. */
  readonly endsAt: number;
}

export interface MinuteCounter {
  /** Counts a request of a key with the limit `most` per minute. */
  count(name: string, most: number): Promise<Minute>;
}

export const minuteSeconds = 60;

/** Creates a counter for this process. */
export function createMinuteCounter(): MinuteCounter {
  // Used only for counting, because each key has its own limit, which a reload of the keys file may change.
  const { RateLimiterMemory } = loadLimiter();
  const limiter = new RateLimiterMemory({ points: Number.MAX_SAFE_INTEGER, duration: minuteSeconds });
  return {
    async count(name) {
      const { consumedPoints, msBeforeNext } = await limiter.consume(name);
      return { used: consumedPoints, endsAt: Date.now() + msBeforeNext };
    },
  };
}
