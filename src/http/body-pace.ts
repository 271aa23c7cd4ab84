/** Ends bodies that arrive too slowly. One timer looks at all of them, and only while there are some. */
import type { IncomingMessage } from 'node:http';
import { ProblemError } from '../contract/problems.ts';

/** The least that must arrive. */
export interface Pace {
  /** Milliseconds before it counts. */
  readonly graceMs: number;
  readonly windowMs: number;
  /** Bytes in every window. */
  readonly bytes: number;
}

export const defaultPace: Pace = { graceMs: 10_000, windowMs: 30_000, bytes: 16_384 };

export interface Arrivals {
  /** Calls `late` once, unless the function that it returns is called before. */
  watch(req: IncomingMessage, options: { readonly timeoutMs: number; readonly late: Late }): () => void;
}

type Late = (problem: ProblemError) => void;

/** Times are milliseconds since the body was asked for. */
interface Arrival {
  readonly req: IncomingMessage;
  readonly timeoutMs: number;
  readonly late: Late;
  age: number;
  windowEnd: number;
  /** Bytes of the connection when the window began. */
  before: number;
}

export function createArrivals(pace: Pace = defaultPace): Arrivals {
  const arriving = new Set<Arrival>();
  let timer: NodeJS.Timeout | undefined;
  let tickMs = 0;

  /** Time is counted in ticks: while our own event loop is blocked, none passes for the callers. */
  function tick(): void {
    if (arriving.size === 0) stop();
    for (const arrival of arriving) {
      arrival.age += tickMs;
      const problem = lateness(arrival, pace);
      if (!problem) continue;
      arriving.delete(arrival);
      arrival.late(problem);
    }
  }

  function stop(): void {
    clearInterval(timer);
    timer = undefined;
  }

  /** A tenth of the shortest time that is measured. */
  function start({ timeoutMs }: Arrival): void {
    const wanted = Math.max(5, Math.min(1000, timeoutMs / 10, pace.graceMs / 10, pace.windowMs / 10));
    if (timer && tickMs <= wanted) return;
    stop();
    tickMs = wanted;
    timer = setInterval(tick, tickMs).unref();
  }

  return {
    watch(req, { timeoutMs, late }) {
      const arrival: Arrival = {
        req,
        timeoutMs,
        late,
        age: 0,
        windowEnd: pace.graceMs + pace.windowMs,
        before: req.socket.bytesRead,
      };
      arriving.add(arrival);
      start(arrival);
      return () => void arriving.delete(arrival);
    },
  };
}

function lateness(arrival: Arrival, { windowMs, bytes }: Pace): ProblemError | undefined {
  const { req, age, timeoutMs, windowEnd, before } = arrival;
  if (age >= timeoutMs) {
    return new ProblemError('request-timeout', `The body did not arrive within ${String(timeoutMs / 1000)} s.`);
  }
  if (age < windowEnd) return undefined;
  const { bytesRead } = req.socket;
  // What has arrived may be waiting for us: backpressure of a slow disk is no fault of the caller.
  if (bytesRead - before < bytes && req.readableLength === 0) {
    const least = `${String(bytes)} bytes in ${String(windowMs / 1000)} s`;
    return new ProblemError('request-timeout', `The body arrives too slowly: less than ${least}.`);
  }
  arrival.windowEnd = age + windowMs;
  arrival.before = bytesRead;
  return undefined;
}
