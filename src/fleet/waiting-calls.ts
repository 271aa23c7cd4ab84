/**
 * The calls of a front that wait for a worker. Each has a ticket in Redis, which may forget it, and a worker may take the
 * ticket and die: it is queued again until a worker opens its connection to the call, or the caller waits no longer.
 */
import { EngineError } from '../../engines/contract/index.ts';
import { raceAbort } from '../../lib/abort.ts';
import { ignore } from '../../lib/ignore.ts';
import type { CallDocument, WorkerConnection } from './call-protocol.ts';
import type { FleetTimeouts } from './timeouts.ts';
import type { Nodes } from './nodes.ts';
import type { QueuePosition, TicketQueue } from './redis.ts';
import { newId, type Ticket } from './ticket.ts';

/** An open call as the listener serves it, at an address that only its ticket contains. */
export interface OpenCall {
  readonly document: CallDocument;
  readonly recordingPath: string;
  /** Whether a worker has taken it. */
  readonly isTaken: boolean;
  readonly take: (connection: WorkerConnection) => void;
  /** A worker had the ticket, and cannot take the call: their clocks differ. */
  readonly refuse: () => void;
}

/** A call that needs a worker. */
export interface WantedCall {
  readonly instance: string;
  readonly document: CallDocument;
  readonly recordingPath: string;
  readonly priority: number;
  /** Only a new call fails when Redis does; one that had a worker waits for Redis. */
  readonly isFirst: boolean;
  /** The workers that have handed it back. */
  readonly returnedBy: readonly string[];
  readonly onQueued: (ahead: number) => void;
}

export interface WaitingCallsOptions {
  readonly nodes: Pick<Nodes, 'absentMs'>;
  readonly queueOf: (instance: string) => TicketQueue;
  /** The ticket for the call with the id. */
  readonly ticketFor: (id: string, returnedBy: readonly string[]) => Ticket;
  /** Throws what the caller gets when Redis does not take a ticket. */
  readonly refuse: (error: unknown) => never;
  readonly limits: Pick<FleetTimeouts, 'firstWorkerMs' | 'reconcileMs'>;
}

/** `jobId` names the ticket, and may be logged: it is not the id of the call. */
type CallState =
  /** Redis is asked to take a ticket. */
  | { readonly is: 'enqueueing'; readonly jobId: string }
  | Enqueued
  /** Redis did not take the ticket, or has lost it: the next check queues another. */
  | { readonly is: 'not-enqueued' }
  | { readonly is: 'taken'; readonly connection: WorkerConnection };

interface Enqueued {
  readonly is: 'enqueued';
  readonly jobId: string;
  /** Checks since a worker has got the ticket without taking the call. */
  readonly checksWithWorker: number;
}

interface WaitingCall extends WantedCall {
  readonly id: string;
  readonly since: number;
  readonly taken: PromiseWithResolvers<WorkerConnection>;
  state: CallState;
  /** Whether a worker that had the ticket was refused. */
  isRefused: boolean;
}

const notEnqueued: CallState = { is: 'not-enqueued' };

/** A worker that has not taken the call after this many checks has died with the ticket, or cannot reach this front. */
const mostChecksWithWorker = 4;

export function createWaitingCalls({ nodes, queueOf, ticketFor, refuse, limits }: WaitingCallsOptions) {
  /** Until their connections are closed: a worker fetches the recording of a call that it has taken. */
  const calls = new Map<string, WaitingCall>();
  const waiting = () => [...calls.values()].filter(({ state }) => state.is !== 'taken');

  /** Queues the call and waits until a worker opens its connection. */
  async function findWorker(wanted: WantedCall, signal: AbortSignal): Promise<WorkerConnection> {
    const { isFirst } = wanted;
    const [id, taken, since] = [newId(), Promise.withResolvers<WorkerConnection>(), performance.now()];
    const call: WaitingCall = { ...wanted, id, taken, since, state: notEnqueued, isRefused: false };
    const close = () => void calls.delete(id);
    const closing = (then: () => void) => () => (close(), then());
    taken.promise.catch(ignore); // while Redis is still asked to take its ticket
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
    else if (state.is !== 'not-enqueued') queueOf(instance).remove(state.jobId).catch(ignore); // else its worker meets 410
  }

  async function reconcile(): Promise<void> {
    for (const { instance, since, taken } of waiting()) {
      const isLong = performance.now() - since > limits.firstWorkerMs;
      if (isLong && nodes.absentMs(instance) > limits.firstWorkerMs)
        taken.reject(noWorker('No worker is connected for this model; try again later.'));
    }
    const byInstance = Map.groupBy(waiting(), ({ instance }) => instance);
    const checks = [...byInstance].map(([instance, ofInstance]) => reconcileQueue(queueOf(instance), ofInstance));
    await Promise.allSettled(checks); // what fails is checked again
  }

  async function reconcileQueue(queue: TicketQueue, ofInstance: readonly WaitingCall[]): Promise<void> {
    const enqueued = ofInstance.flatMap((call) => (call.state.is === 'enqueued' ? [{ call, state: call.state }] : []));
    const positions = await queue.positionsOf(enqueued.map(({ state }) => state.jobId));
    for (const [index, { call, state }] of enqueued.entries())
      if (isIn(call, state)) call.state = stateAt(call, state, positions[index]);
    for (const call of ofInstance) if (isIn(call, notEnqueued)) await enqueue(call);
  }

  /** Still, after Redis has answered. */
  const isIn = (call: WaitingCall, state: CallState) => call.state === state && calls.has(call.id);

  let reconciling: Promise<void> | undefined;

  /** One check at a time: Redis may take longer than the interval. */
  const reconcileOnce = () => (reconciling ??= reconcile().finally(() => (reconciling = undefined)));
  const timer = setInterval(() => void reconcileOnce(), limits.reconcileMs);
  return {
    findWorker,
    /** The open call with the id in its address. */
    find: (id: string) => {
      const call = calls.get(id);
      return call && openCall(call);
    },
    /** Looks for the tickets in Redis, and queues those again that it has lost. */
    reconcile: reconcileOnce,
    /** How long the oldest call has waited, in milliseconds; 0 when none waits. */
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

/** A worker may have taken the call before Redis has answered. */
function afterEnqueueing(call: WaitingCall, state: CallState): void {
  if (call.state.is === 'enqueueing') call.state = state;
}

/** Also reports the position to the caller. */
function stateAt({ onQueued }: WaitingCall, state: Enqueued, position: QueuePosition | undefined): CallState {
  if (typeof position === 'number') {
    onQueued(position);
    return state;
  }
  const checksWithWorker = state.checksWithWorker + 1;
  const needsTicket = position === 'lost' || checksWithWorker > mostChecksWithWorker;
  return needsTicket ? notEnqueued : { ...state, checksWithWorker };
}

/** The deadline passed while the call was queued: no engine was late. */
function reasonOf(error: unknown, { isRefused }: WaitingCall): unknown {
  if (!EngineError.is(error) || error.code !== 'engine-timeout') return error;
  if (isRefused) return noWorker('No worker could take this transcription; try again later.');
  return new EngineError('overloaded', 'The queue of this model is full; try again later.', { cause: error });
}

function noWorker(message: string): EngineError {
  return new EngineError('model-unavailable', message, { retryAfter: 30 });
}
