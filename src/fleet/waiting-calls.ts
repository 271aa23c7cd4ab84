/**
 * The calls of a front that wait for a worker. Each has a ticket in Redis. Redis may lose the ticket, and a worker may
 * take it and die, so the call is queued again until a worker opens a connection for it or its caller disconnects.
 */
import { EngineError } from '../../engines/contract/index.ts';
import { raceAbort } from '../../lib/abort.ts';
import { ignore } from '../../lib/errors.ts';
import type { CallDocument, WorkerConnection } from './call-protocol.ts';
import type { FleetTimeouts } from './timeouts.ts';
import type { Nodes } from './nodes.ts';
import type { QueuePosition, TicketQueue } from './redis.ts';
import { newId, type Ticket } from './ticket.ts';

/** An open call. The listener serves it at an address that only its ticket contains. */
export interface OpenCall {
  readonly document: CallDocument;
  readonly recordingPath: string;
  /** Whether a worker has taken the call. */
  readonly isTaken: boolean;
  readonly take: (connection: WorkerConnection) => void;
  /** Call this when a worker had the ticket, but its signature was rejected because the clocks differ. */
  readonly refuse: () => void;
}

/** A call that needs a worker. */
export interface CallRequest {
  readonly instance: string;
  readonly document: CallDocument;
  readonly recordingPath: string;
  readonly priority: number;
  /** True for the first attempt, which fails if Redis does. Later attempts wait for Redis. */
  readonly isFirst: boolean;
  /** Ids of the workers that have returned the call. */
  readonly returnedBy: readonly string[];
  readonly onQueued: (ahead: number) => void;
}

export interface WaitingCallsOptions {
  readonly nodes: Pick<Nodes, 'absentMs'>;
  readonly queueOf: (instance: string) => TicketQueue;
  /** Creates the ticket for the call with the id. */
  readonly ticketFor: (id: string, returnedBy: readonly string[]) => Ticket;
  /** Throws the error for the caller when a ticket cannot be added to Redis. */
  readonly refuse: (error: unknown) => never;
  readonly timeouts: Pick<FleetTimeouts, 'firstWorkerMs' | 'reconcileMs'>;
}

/** `jobId` identifies the ticket in BullMQ, and may be logged: unlike the id of the call, it grants no access. */
type CallState =
  /** The ticket is being added to Redis. */
  | { readonly is: 'enqueueing'; readonly jobId: string }
  | Enqueued
  /** Redis did not accept the ticket, or lost it. The next check adds another. */
  | { readonly is: 'not-enqueued' }
  | { readonly is: 'taken'; readonly connection: WorkerConnection };

interface Enqueued {
  readonly is: 'enqueued';
  readonly jobId: string;
  /** Number of checks since a worker received the ticket without opening a connection. */
  readonly checksWithWorker: number;
}

interface WaitingCall extends CallRequest {
  readonly id: string;
  readonly since: number;
  readonly taken: PromiseWithResolvers<WorkerConnection>;
  state: CallState;
  /** Whether a worker with the ticket was refused. */
  isRefused: boolean;
}

const notEnqueued: CallState = { is: 'not-enqueued' };

/** A worker that has not opened a connection after more checks than this has died, or cannot reach this front. */
const maxChecksWithWorker = 4;

export function createWaitingCalls({ nodes, queueOf, ticketFor, refuse, timeouts }: WaitingCallsOptions) {
  /** Calls by id, until their connections close: a worker fetches the recording after it has taken the call. */
  const calls = new Map<string, WaitingCall>();
  const waiting = () => [...calls.values()].filter(({ state }) => state.is !== 'taken');

  /** Queues the call and waits until a worker opens its connection. */
  async function findWorker(request: CallRequest, signal: AbortSignal): Promise<WorkerConnection> {
    const { isFirst } = request;
    const [id, taken, since] = [newId(), Promise.withResolvers<WorkerConnection>(), performance.now()];
    const call: WaitingCall = { ...request, id, taken, since, state: notEnqueued, isRefused: false };
    const close = () => void calls.delete(id);
    const closing = (then: () => void) => () => (close(), then());
    taken.promise.catch(ignore); // may reject before the ticket is in Redis
    calls.set(id, call);
    try {
      signal.throwIfAborted();
      await enqueue(call).catch(isFirst ? refuse : ignore);
      const connection = await raceAbort(taken.promise, signal);
      return { ...connection, end: closing(connection.end), cut: closing(connection.cut) };
    } catch (error) {
      close();
      withdraw(call);
      throw isFirst ? reasonOf(error, call) : error;
    }
  }

  async function enqueue(call: WaitingCall): Promise<void> {
    const { id, instance, priority, returnedBy } = call;
    const jobId = newId();
    call.state = { is: 'enqueueing', jobId };
    try {
      await queueOf(instance).add(jobId, ticketFor(id, returnedBy), priority);
      afterEnqueueing(call, { is: 'enqueued', jobId, checksWithWorker: 0 });
    } catch (error) {
      afterEnqueueing(call, notEnqueued);
      throw error;
    }
  }

  function withdraw({ instance, state }: WaitingCall): void {
    if (state.is === 'taken') state.connection.cut();
    else if (state.is !== 'not-enqueued') queueOf(instance).remove(state.jobId).catch(ignore); // best effort
  }

  async function reconcile(): Promise<void> {
    for (const { instance, since, taken } of waiting()) {
      const isLong = performance.now() - since > timeouts.firstWorkerMs;
      if (isLong && nodes.absentMs(instance) > timeouts.firstWorkerMs)
        taken.reject(noWorker('No worker is connected for this model; try again later.'));
    }
    const byInstance = Map.groupBy(waiting(), ({ instance }) => instance);
    const checks = [...byInstance].map(([instance, ofInstance]) => reconcileQueue(queueOf(instance), ofInstance));
    await Promise.allSettled(checks); // failed checks are repeated
  }

  async function reconcileQueue(queue: TicketQueue, ofInstance: readonly WaitingCall[]): Promise<void> {
    const enqueued = ofInstance.flatMap((call) => (call.state.is === 'enqueued' ? [{ call, state: call.state }] : []));
    const positions = await queue.positionsOf(enqueued.map(({ state }) => state.jobId));
    for (const [index, { call, state }] of enqueued.entries())
      if (isIn(call, state)) call.state = stateAt(call, state, positions[index]);
    for (const call of ofInstance) if (isIn(call, notEnqueued)) await enqueue(call);
  }

  /** Whether the call is still open and in the same state after Redis has replied. */
  const isIn = (call: WaitingCall, state: CallState) => call.state === state && calls.has(call.id);

  let reconciling: Promise<void> | undefined;

  /** Runs one check at a time, because Redis may take longer than the interval. */
  const reconcileOnce = () => (reconciling ??= reconcile().finally(() => (reconciling = undefined)));
  const timer = setInterval(() => void reconcileOnce(), timeouts.reconcileMs);
  return {
    findWorker,
    /** Returns the open call that a worker addresses by this id; undefined if no such call is open. */
    find: (id: string) => {
      const call = calls.get(id);
      return call && openCall(call);
    },
    /** Checks the tickets in Redis and adds lost ones again. */
    reconcile: reconcileOnce,
    /** Returns the waiting time of the oldest call of an instance in milliseconds; 0 if no call waits. */
    oldestWaitMs(instance: string) {
      const since = waiting().flatMap((call) => (call.instance === instance ? [call.since] : []));
      return since.length === 0 ? 0 : performance.now() - Math.min(...since);
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

function openCall(call: WaitingCall): OpenCall {
  const { document, recordingPath, taken, state } = call;
  return {
    ...{ document, recordingPath, isTaken: state.is === 'taken' },
    take(connection) {
      call.state = { is: 'taken', connection };
      taken.resolve(connection);
    },
    refuse() {
      call.isRefused = true;
    },
  };
}

/** A worker may take the call before Redis confirms the ticket. */
function afterEnqueueing(call: WaitingCall, state: CallState): void {
  if (call.state.is === 'enqueueing') call.state = state;
}

/** Returns the next state of the call, and reports its queue position to the caller. */
function stateAt({ onQueued }: WaitingCall, state: Enqueued, position: QueuePosition | undefined): CallState {
  if (typeof position === 'number') {
    onQueued(position);
    return state;
  }
  const checksWithWorker = state.checksWithWorker + 1;
  const needsTicket = position === 'lost' || checksWithWorker > maxChecksWithWorker;
  return needsTicket ? notEnqueued : { ...state, checksWithWorker };
}

/** A timeout in the queue is reported as `overloaded`, because no engine was slow. */
function reasonOf(error: unknown, { isRefused }: WaitingCall): unknown {
  if (!EngineError.is(error) || error.code !== 'engine-timeout') return error;
  if (isRefused) return noWorker('No worker could take this transcription; try again later.');
  return new EngineError('overloaded', 'The queue of this model is full; try again later.', { cause: error });
}

function noWorker(message: string): EngineError {
  return new EngineError('model-unavailable', message, { retryAfter: 30 });
}
