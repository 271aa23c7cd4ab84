/**
 * The open WebSocket sessions: their places, which callers share fairly, and the number of turns for the log and the
 * metrics.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { onAbort } from '../../lib/abort.ts';
import { ProblemError } from '../contract/problems.ts';
import type { SessionPlace, SessionState } from '../contract/session.ts';
import type { SessionAccess } from '../keys/client-secrets.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { currentCaller, currentKey, currentUsage } from '../request-scope.ts';
import type { Sockets, UpgradeResponse } from './socket/upgrade.ts';
import type { IncomingRequest, OpenedSession } from './incoming-request.ts';

export interface SessionsOptions {
  /** REALTIME_SESSIONS. */
  readonly limit: number;
  /** Aborts when the service begins to shut down. From then on, no session is opened. */
  readonly draining: AbortSignal;
  /** Aborts after DRAIN_DELAY, once a load balancer sends clients that reconnect to another service. Idle sessions then end. */
  readonly closing: AbortSignal;
  /** Aborts a few seconds before the service ends its requests. */
  readonly concluding: AbortSignal;
  readonly metrics?: Metrics | undefined;
}

export type Sessions = ReturnType<typeof createSessions>;

/** Why a session lost its place: the close code and close reason for its WebSocket. */
export class PlaceTaken extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

interface OpenSession {
  readonly caller: string;
  readonly weight: number;
  /** Id of the client secret; undefined without one. */
  readonly secret: string | undefined;
  readonly startedAt: number;
  readonly taken: AbortController;
  readonly ended: PromiseWithResolvers<undefined>;
  /** Undefined until the session first reports it. */
  state?: SessionState;
}

/** Time for a replaced session to end, in milliseconds. */
const replacedMs = 1_000;
/**
 * Number of ended sessions from which the duration of a session is estimated, and the estimate before the first session
 * has ended.
 */
const remembered = 8;
const unknownSeconds = 60;

interface TakenPlace {
  readonly place: SessionPlace;
  /** Undefined until the session first reports it. */
  readonly state: () => SessionState | undefined;
  /** Aborts with a `PlaceTaken`. */
  readonly taken: AbortSignal;
}

export function createSessions({ limit, draining, closing, concluding, metrics }: SessionsOptions) {
  /** Open sessions, oldest first, excluding those whose place has been taken. */
  const open = new Set<OpenSession>();
  const endedSeconds: number[] = [];

  function take(session: OpenSession, reason: PlaceTaken): void {
    open.delete(session);
    session.taken.abort(reason);
  }

  function takeFrom(secret: string | undefined): OpenSession | undefined {
    const replaced = secret === undefined ? undefined : [...open].find((session) => session.secret === secret);
    const reason = 'A newer session of the client secret has taken the place of this one.';
    if (replaced) take(replaced, new PlaceTaken(1008, reason));
    return replaced;
  }

  /**
   * Frees the place of the newest idle session of the caller with the most sessions relative to its weight, or throws
   * `overloaded`.
   */
  function makeRoomFor(caller: string, weight: number): void {
    const counts = new Map<string, number>();
    const countOf = (name: string) => counts.get(name) ?? 0;
    for (const session of open) counts.set(session.caller, countOf(session.caller) + 1);
    const own = countOf(caller);
    const share = (session: OpenSession) => countOf(session.caller) / session.weight;
    const idle = [...open].filter(({ state, caller: other, weight: others }) => {
      const count = countOf(other);
      return state?.isIdle !== false && count > 1 && (own === 0 || (own + 1) / weight <= (count - 1) / others);
    });
    const [first, ...rest] = idle;
    if (first === undefined) throw full();
    take(
      rest.reduce((best, session) => (share(session) >= share(best) ? session : best), first),
      new PlaceTaken(1013, 'Another caller needs the place of this idle session; connect again later.'),
    );
  }

  function full(): ProblemError {
    const total = endedSeconds.reduce((sum, seconds) => sum + seconds, 0);
    const seconds = endedSeconds.length === 0 ? unknownSeconds : total / endedSeconds.length;
    const headers = { 'Retry-After': String(Math.max(1, Math.ceil(seconds))) };
    return new ProblemError('overloaded', 'Too many open sessions; try again later.', { headers });
  }

  return {
    count: () => open.size,
    /**
     * Ends the existing session of a client secret, because each secret may have only one. Resolves when that session
     * has released its place, or after a second.
     */
    async replace({ secret }: SessionAccess): Promise<void> {
      const replaced = takeFrom(secret);
      if (replaced) await Promise.race([replaced.ended.promise, wait(replacedMs, undefined, { ref: false })]);
    },
    /** Takes a place until the request ends. Throws `shutting-down` and `overloaded`. */
    open(
      { atEnd, record }: Pick<IncomingRequest, 'atEnd' | 'record'>,
      { secret }: Pick<SessionAccess, 'secret'>,
    ): TakenPlace {
      draining.throwIfAborted();
      const [caller, weight] = [currentCaller(), currentKey()?.weight ?? 1];
      takeFrom(secret); // the session of another connection that overtook this one since `replace`
      if (open.size >= limit) makeRoomFor(caller, weight);
      const session: OpenSession = {
        ...{ caller, weight, secret, startedAt: performance.now() },
        ...{ taken: new AbortController(), ended: Promise.withResolvers<undefined>() },
      };
      open.add(session);
      atEnd(() => {
        open.delete(session);
        session.ended.resolve(undefined);
        endedSeconds.push((performance.now() - session.startedAt) / 1000);
        if (endedSeconds.length > remembered) endedSeconds.shift();
      });
      const place: SessionPlace = {
        closing,
        concluding,
        report: (state) => (session.state = state),
        turnEnded(audioMs) {
          record.turns = (record.turns ?? 0) + 1;
          const usage = currentUsage();
          if (usage) usage.audioMs = (usage.audioMs ?? 0) + audioMs;
          metrics?.turnEnded();
        },
        responseBegan() {
          record.responses = (record.responses ?? 0) + 1;
        },
        spoke(ms) {
          record.spokenMs = (record.spokenMs ?? 0) + ms;
        },
        answerInterrupted() {
          record.interruptions = (record.interruptions ?? 0) + 1;
          metrics?.answerInterrupted();
        },
      };
      return { place, state: () => session.state, taken: session.taken.signal };
    },
  };
}

interface ServeSessionOptions {
  readonly sockets: Sockets;
  readonly metrics?: Metrics | undefined;
}

/**
 * Completes the upgrade of a request, and runs its session. Resolves when the session has ended and its socket has closed.
 * Rejects if the upgrade fails.
 */
export async function serveSession(
  { run, isAllowed, taken }: OpenedSession,
  res: UpgradeResponse,
  request: IncomingRequest,
  { sockets, metrics }: ServeSessionOptions,
): Promise<void> {
  const { id, signal, log, record } = request;
  const socket = await sockets.accept(res, { isAllowed, signal });
  const end = request.upgraded?.();
  const started = performance.now();
  const off = onAbort(signal, () => socket.close(1012, 'The service is shutting down.'));
  onAbort(taken, (reason) => socket.close((reason as PlaceTaken).code, (reason as PlaceTaken).message));
  try {
    await run(socket);
    socket.close(1000);
  } catch (error) {
    log.error({ id, err: error }, 'a session failed');
    socket.close(1011);
  }
  off();
  record.close = await socket.closed;
  metrics?.sessionEnded(performance.now() - started);
  end?.();
}
