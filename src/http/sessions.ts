/** The open sessions over WebSockets: their limit, and their turns for the log line and the metrics. */
import { ProblemError } from '../contract/problems.ts';
import type { Connecting } from '../contract/session.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { currentUsage } from '../request-scope.ts';
import type { IncomingRequest } from './incoming-request.ts';

export interface SessionsOptions {
  /** REALTIME_SESSIONS. */
  readonly limit: number;
  /** Aborts when the service begins to shut down. */
  readonly draining: AbortSignal;
  readonly metrics?: Metrics | undefined;
}

export type Sessions = ReturnType<typeof createSessions>;

export function createSessions({ limit, draining, metrics }: SessionsOptions) {
  let count = 0;
  return {
    count: () => count,
    /** Takes a place until the end of the request. Throws `shutting-down` and `overloaded`. */
    open({ atEnd, record }: Pick<IncomingRequest, 'atEnd' | 'record'>): Pick<Connecting, 'draining' | 'turnEnded'> {
      draining.throwIfAborted();
      if (count >= limit) throw new ProblemError('overloaded', 'Too many open sessions; try again later.');
      count += 1;
      atEnd(() => (count -= 1));
      return {
        draining,
        turnEnded(audioMs) {
          record.turns = (record.turns ?? 0) + 1;
          const usage = currentUsage();
          if (usage) usage.audioMs = (usage.audioMs ?? 0) + audioMs;
          metrics?.turnEnded();
        },
      };
    },
  };
}
