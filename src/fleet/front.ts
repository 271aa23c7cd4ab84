/**
 * A front: has its transcriptions done by workers. It is the source of truth for its calls: Redis may lose every ticket
 * and any worker may die, and the front places them again.
 */
import { randomBytes } from 'node:crypto';
import {
  EngineError,
  type Logger,
  type TimedText,
  type Transcript,
  type TranscriptionCall,
  type TranscriptionOptions,
} from '../../engines/contract/index.ts';
import { onAbort, raceAbort } from '../../lib/abort.ts';
import { currentScope, currentVia } from '../caller.ts';
import { traced } from '../trace.ts';
import type { CallDocument, Failure, Message } from './line.ts';
import type { FleetLimits } from './limits.ts';
import type { Nodes } from './nodes.ts';
import type { TicketQueue } from './redis.ts';
import type { Shares } from './shares.ts';
import type { Ticket } from './ticket.ts';

/** The line of a worker that has taken a call. */
export interface Line {
  readonly messages: AsyncIterable<Message>;
  /** The worker may let go of the call: its last message has been read. */
  readonly end: () => void;
  /** Ends the work. */
  readonly cut: () => void;
}

/** An open call as the listener serves it, at an address that only its ticket contains. */
export interface OpenCall {
  readonly document: CallDocument;
  readonly recordingPath: string;
  /** True once a worker has taken it. */
  readonly isTaken: boolean;
  readonly take: (line: Line) => void;
  /** A worker had the ticket, and cannot take the call: their clocks differ. */
  readonly refuse: () => void;
}

export interface FrontOptions {
  readonly nodes: Pick<Nodes, 'absentMs' | 'workersOf'>;
  readonly shares: Pick<Shares, 'take'>;
  readonly queueOf: (instance: string) => TicketQueue;
  /** The ticket for the call with the id; `returnedBy` is the worker that handed it back last. */
  readonly ticketFor: (id: string, returnedBy: string | undefined) => Ticket;
  /** The id of this service in chains of services. */
  readonly viaId: () => string;
  readonly limits: FleetLimits;
  readonly log: Logger;
}

export interface Front extends Disposable {
  /** `transcribe` of an instance, run by a worker. */
  readonly transcribe: (
    instance: string,
    call: TranscriptionCall,
    options: TranscriptionOptions,
  ) => Promise<Transcript>;
  /** The open call with the id in its address. */
  readonly find: (id: string) => OpenCall | undefined;
  /** Looks for the waiting tickets in Redis, and places those again that it has lost. */
  readonly look: () => Promise<void>;
  /** How long the oldest call has waited for a worker, in milliseconds; 0 when none waits. */
  readonly oldestWaitMs: (instance: string) => number;
}

/** A call in the queue, until a worker takes it. */
interface Placing {
  readonly id: string;
  readonly instance: string;
  readonly priority: number;
  readonly returnedBy: string | undefined;
  readonly since: number;
  readonly line: PromiseWithResolvers<Line>;
  readonly onQueued: (ahead: number) => void;
  /** Job id of the last ticket, which may be logged: not that of the call. Undefined when Redis did not accept it. */
  jobId: string | undefined;
  /** Whether a worker that had the ticket was refused. */
  isRefused: boolean;
  /** While Redis is asked to take one. */
  isPlacing: boolean;
  /** Looks since a worker has got the ticket without taking the call. */
  checksWithWorker: number;
}

type Outcome =
  | { readonly transcript: Transcript }
  | { readonly failed: EngineError }
  | { readonly returned: EngineError; readonly worker: string | undefined }
  /** The worker is gone. */
  | 'lost';

/** How often a call may kill its worker, and how many workers may hand it back. */
const mostAttempts = 3;

/** A worker that has not taken the call after this many checks has died with the ticket, or cannot reach this front. */
const mostChecksWithWorker = 4;

const redisRetryAfterSeconds = 5;

export function createFront({ nodes, shares, queueOf, ticketFor, viaId, limits, log }: FrontOptions): Front {
  const waiting = new Set<Placing>();
  const open = new Map<string, OpenCall>();

  async function transcribe(instance: string, call: TranscriptionCall, options: TranscriptionOptions) {
    const { signal } = options;
    const { recording, ...asked } = call;
    const { id, trace, usage, caller = '', key } = currentScope() ?? {};
    const { path, ...facts } = recording;
    const document: CallDocument = {
      ...{ instance, call: asked, recording: facts },
      scope: {
        ...(id !== undefined && { id }),
        ...(trace && { trace }),
        caller,
        via: [...(currentVia() ?? []), viaId()],
      },
      segments: options.onSegment !== undefined,
    };
    const listeners = forSeveralAttempts(options);
    signal.throwIfAborted();
    using share = await shares.take({ id: newId(), instance, caller, weight: key?.weight ?? 1 }).catch(refuse);
    const { priority } = share;
    let lost = 0;
    const returnedBy = new Set<string>();
    for (let isFirst = true; ; isFirst = false) {
      const placedAt = performance.now();
      const search = { instance, document, path, priority, isFirst, returnedBy: [...returnedBy].at(-1) };
      const line = await traced('queue wait', {}, () => findWorker(search, listeners.onQueued, signal));
      listeners.begin();
      if (usage) usage.queueMs = (usage.queueMs ?? 0) + performance.now() - placedAt;
      const outcome = await follow(line, listeners, signal);
      signal.throwIfAborted();
      if (outcome === 'lost') {
        lost += 1;
        log.warn({ instance, attempt: lost }, 'a worker was lost in the middle of a transcription');
        if (lost === mostAttempts)
          throw new EngineError('engine-failed', 'Every worker that tried this recording failed.');
      } else if ('transcript' in outcome) {
        return outcome.transcript;
      } else if ('failed' in outcome) {
        throw outcome.failed;
      } else {
        const { returned, worker } = outcome;
        log.info({ instance, code: returned.code, worker }, 'a worker has handed a transcription back');
        const by = worker ?? newId(); // one that stops gets no other
        returnedBy.delete(by);
        returnedBy.add(by);
        if (returnedBy.size === mostAttempts || isReturnedByAll(instance, returnedBy)) throw returned;
      }
    }
  }

  function isReturnedByAll(instance: string, returnedBy: ReadonlySet<string>): boolean {
    const workers = nodes.workersOf(instance);
    return workers.length > 0 && workers.every((worker) => returnedBy.has(worker));
  }

  interface Search {
    readonly instance: string;
    readonly document: CallDocument;
    readonly path: string;
    readonly priority: number;
    /** Only a new call fails when Redis does; one that had a worker waits for Redis. */
    readonly isFirst: boolean;
    readonly returnedBy: string | undefined;
  }

  /** Places the call in the queue and waits until a worker opens its line. */
  async function findWorker(
    { instance, document, path, priority, isFirst, returnedBy }: Search,
    onQueued: Placing['onQueued'],
    signal: AbortSignal,
  ): Promise<Line> {
    const placing: Placing = {
      ...{ id: newId(), instance, priority, returnedBy, since: performance.now(), onQueued },
      ...{
        line: Promise.withResolvers<Line>(),
        jobId: undefined,
        isRefused: false,
        isPlacing: false,
        checksWithWorker: 0,
      },
    };
    const { id, line } = placing;
    open.set(id, {
      ...{ document, recordingPath: path },
      get isTaken() {
        return !waiting.has(placing);
      },
      take(taken) {
        waiting.delete(placing);
        line.resolve(taken);
      },
      refuse() {
        placing.isRefused = true;
      },
    });
    waiting.add(placing);
    try {
      signal.throwIfAborted();
      const placed = place(placing);
      await (isFirst ? placed.catch(refuse) : placed.catch(() => undefined));
      const taken = await raceAbort(line.promise, signal);
      return { ...taken, end: () => close(taken.end), cut: () => close(taken.cut) };
    } catch (error) {
      waiting.delete(placing);
      open.delete(id);
      line.promise.then(({ cut }) => cut(), ignore); // a worker that came in this moment
      if (placing.jobId !== undefined) queueOf(instance).remove(placing.jobId).catch(ignore); // else it meets 410
      throw isFirst ? reasonOf(error, placing) : error;
    }

    function close(how: () => void): void {
      open.delete(id);
      how();
    }
  }

  async function place(placing: Placing): Promise<void> {
    const { id, instance, priority, returnedBy } = placing;
    placing.checksWithWorker = 0;
    placing.jobId = newId();
    placing.isPlacing = true;
    try {
      await queueOf(instance).add(placing.jobId, ticketFor(id, returnedBy), priority);
    } catch (error) {
      placing.jobId = undefined;
      throw error;
    } finally {
      placing.isPlacing = false;
    }
  }

  function refuse(error: unknown): never {
    if (EngineError.is(error)) throw error;
    log.error({ err: error }, 'a ticket could not be placed in Redis');
    const retryAfter = redisRetryAfterSeconds;
    throw new EngineError('overloaded', 'The queue cannot be reached; try again later.', { cause: error, retryAfter });
  }

  let looking: Promise<void> | undefined;

  async function look(): Promise<void> {
    for (const placing of waiting) {
      const { instance, since, line } = placing;
      const isLong = performance.now() - since > limits.firstWorkerMs;
      if (isLong && nodes.absentMs(instance) > limits.firstWorkerMs)
        line.reject(noWorker('No worker is there for this model; try again later.'));
    }
    const byInstance = Map.groupBy(waiting, ({ instance }) => instance);
    const looks = [...byInstance].map(([instance, placings]) => lookIn(queueOf(instance), placings));
    await Promise.allSettled(looks); // what fails is looked at again
  }

  async function lookIn(queue: TicketQueue, placings: readonly Placing[]): Promise<void> {
    const settled = placings.filter(({ isPlacing }) => !isPlacing);
    const placed = settled.filter(({ jobId }) => jobId !== undefined);
    const lost = settled.filter(({ jobId }) => jobId === undefined);
    const places = await queue.placesOf(placed.map(({ jobId }) => jobId ?? ''));
    for (const [index, placing] of placed.entries()) {
      const at = places[index];
      if (!waiting.has(placing)) continue;
      if (typeof at === 'number') placing.onQueued(at);
      else if (at === 'lost' || ++placing.checksWithWorker > mostChecksWithWorker) lost.push(placing);
    }
    for (const placing of lost) if (waiting.has(placing)) await place(placing);
  }

  /** One look at a time: Redis may take longer than the interval. */
  const lookOnce = () => (looking ??= look().finally(() => (looking = undefined)));
  const timer = setInterval(() => void lookOnce(), limits.lookMs);
  return {
    transcribe,
    find: (id) => open.get(id),
    look: lookOnce,
    oldestWaitMs(instance) {
      const since = [...waiting].flatMap((placing) => (placing.instance === instance ? [placing.since] : []));
      return since.length === 0 ? 0 : performance.now() - Math.min(...since);
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

/** Nobody can guess it. */
function newId(): string {
  return randomBytes(16).toString('base64url');
}

/** Reads what the worker sends until the call is decided or the line is closed. An abort closes it. */
async function follow(line: Line, listeners: Listeners, signal: AbortSignal): Promise<Outcome> {
  const off = onAbort(signal, line.cut);
  try {
    for await (const message of line.messages) {
      const outcome = read(message, listeners);
      if (outcome === undefined) continue;
      line.end();
      return outcome;
    }
    line.cut();
    return 'lost';
  } catch (error) {
    line.cut(); // the caller's own listener failed
    throw error;
  } finally {
    off();
  }
}

function read(message: Message, { onSegment, onProgress, onQueued }: Listeners): Outcome | undefined {
  switch (message.type) {
    case 'queued':
      onQueued(message.ahead);
      return undefined;
    case 'progress':
      onProgress?.(message.processedMs, message.durationMs);
      return undefined;
    case 'segment':
      onSegment?.(message.segment);
      return undefined;
    case 'result':
      return { transcript: message.transcript };
    case 'failed':
      return { failed: errorOf(message) };
    case 'returned':
      return { returned: errorOf(message), worker: message.worker };
    default:
      return undefined; // a sign of life, or from a later version
  }
}

/** The guard of the engine validates code and message. */
function errorOf({ code, message, retryAfter }: Failure): EngineError {
  return new EngineError(code, message, retryAfter === undefined ? {} : { retryAfter });
}

/** The deadline passed while the call was queued: no engine was late. */
function reasonOf(error: unknown, { isRefused }: Placing): unknown {
  if (!EngineError.is(error) || error.code !== 'engine-timeout') return error;
  if (isRefused) return noWorker('No worker could take this transcription; try again later.');
  return new EngineError('overloaded', 'The queue of this model is full; try again later.', { cause: error });
}

function noWorker(message: string): EngineError {
  return new EngineError('model-unavailable', message, { retryAfter: 30 });
}

interface Listeners extends Pick<TranscriptionOptions, 'onSegment' | 'onProgress'> {
  readonly onQueued: (ahead: number | null) => void;
  /** A worker begins, perhaps not the first. */
  readonly begin: () => void;
}

/** A later worker begins at the start of the recording: segments that the caller has are not repeated. */
function forSeveralAttempts({ onSegment, onProgress, onQueued }: TranscriptionOptions): Listeners {
  let passedMs = 0;
  let endMs = 0;
  let place: number | null = null;
  function queued(ahead: number | null): void {
    if (ahead === place) return;
    place = ahead;
    onQueued?.(ahead);
  }
  return {
    onQueued: queued,
    begin() {
      passedMs = endMs;
      queued(null);
    },
    ...(onProgress && { onProgress }),
    ...(onSegment && {
      onSegment(segment: TimedText) {
        if (segment.startMs < passedMs) return;
        onSegment(segment);
        endMs = Math.max(endMs, segment.endMs);
      },
    }),
  };
}

function ignore(): void {
  // Nothing depends on it.
}
