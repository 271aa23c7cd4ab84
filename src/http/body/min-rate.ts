/**
 * Minimum transfer rate for request bodies. A single timer checks all bodies, and runs only while bodies are arriving.
 */
import type { IncomingMessage } from 'node:http';
import { ProblemError } from '../../contract/problems.ts';

export const defaultMinRate = {
  /** Milliseconds by which the first window is longer. */
  graceMs: 10_000,
  windowMs: 30_000,
  /** Minimum bytes per window. */
  bytes: 16_384,
};

export type MinRate = Readonly<typeof defaultMinRate>;

export interface RateWatch {
  /** Calls `late` at most once. The returned function stops watching. */
  watch(req: IncomingMessage, options: { readonly timeoutMs: number; readonly late: Late }): () => void;
}

type Late = (problem: ProblemError) => void;

/** Times are in milliseconds since watching began. */
interface Arrival {
  readonly req: IncomingMessage;
  readonly timeoutMs: number;
  readonly late: Late;
  age: number;
  windowEnd: number;
  /** The socket's `bytesRead` at the start of the window. */
  before: number;
}

export function createRateWatch(minRate: MinRate = defaultMinRate): RateWatch {
  const arriving = new Set<Arrival>();
  let timer: NodeJS.Timeout | undefined;
  let tickMs = 0;

  /** Time is counted in ticks, so that a blocked event loop does not count against clients. */
  function tick(): void {
    if (arriving.size === 0) stop();
    for (const arrival of arriving) {
      arrival.age += tickMs;
      const problem = lateness(arrival, minRate);
      if (!problem) continue;
      arriving.delete(arrival);
      arrival.late(problem);
    }
  }

  function stop(): void {
    clearInterval(timer);
    timer = undefined;
  }

  /** The tick interval is a tenth of the shortest time to measure, from 5 ms to 1 s. */
  function start({ timeoutMs }: Arrival): void {
    const requiredMs = Math.max(5, Math.min(1000, timeoutMs / 10, minRate.graceMs / 10, minRate.windowMs / 10));
    if (timer && tickMs <= requiredMs) return;
    stop();
    tickMs = requiredMs;
    timer = setInterval(tick, tickMs).unref();
  }

  return {
    watch(req, { timeoutMs, late }) {
      const arrival: Arrival = {
        req,
        timeoutMs,
        late,
        age: 0,
        windowEnd: minRate.graceMs + minRate.windowMs,
        before: req.socket.bytesRead,
      };
      arriving.add(arrival);
      start(arrival);
      return () => void arriving.delete(arrival);
    },
  };
}

function lateness(arrival: Arrival, { windowMs, bytes }: MinRate): ProblemError | undefined {
  const { req, age, timeoutMs, windowEnd, before } = arrival;
  if (age >= timeoutMs) {
    return new ProblemError('request-timeout', `The body did not arrive within ${String(timeoutMs / 1000)} s.`);
  }
  if (age < windowEnd) return undefined;
  const { bytesRead } = req.socket;
  // Unread bytes mean backpressure from a slow disk, which is not the client's fault.
  if (bytesRead - before < bytes && req.readableLength === 0) {
    const least = `${String(bytes)} bytes in ${String(windowMs / 1000)} s`;
    return new ProblemError('request-timeout', `The body arrived too slowly: less than ${least}.`);
  }
  arrival.windowEnd = age + windowMs;
  arrival.before = bytesRead;
  return undefined;
}
