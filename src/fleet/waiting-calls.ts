/**
 * The calls of a front that wait for a worker. Each has a ticket in Redis, which may forget it, and a worker may take the
 * ticket and die: it is placed again until a worker opens its line to the call, or the caller waits no longer.
 */
import { EngineError } from '../../engines/contract/index.ts';
import { raceAbort } from '../../lib/abort.ts';
import type { CallDocument, Line } from './call-protocol.ts';
import type { FleetLimits } from './timeouts.ts';
import type { Nodes } from './nodes.ts';
import type { Place, TicketQueue } from './redis.ts';
import { newId, type Ticket } from './ticket.ts';

/** An open call as the listener serves it, at an address that only its ticket contains. */
export interface OpenCall {
  readonly document: CallDocument;
  readonly recordingPath: string;
  /** Whether a worker has taken it. */
  readonly isTaken: boolean;
  readonly take: (line: Line) => void;
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

export interface WaitingCalls extends Disposable {
  /** Places the call in the queue and waits until a worker opens its line. */
  findWorker(wanted: WantedCall, signal: AbortSignal): Promise<Line>;
  /** The open call with the id in its address. */
  readonly find: (id: string) => OpenCall | undefined;
  /** Looks for the tickets in Redis, and places those again that it has lost. */
  readonly look: () => Promise<void>;
  /** How long the oldest call has waited, in milliseconds; 0 when none waits. */
  readonly oldestWaitMs: (instance: string) => number;
}

export interface WaitingCallsOptions {
  readonly nodes: Pick<Nodes, 'absentMs'>;
  readonly queueOf: (instance: string) => TicketQueue;
  /** The ticket for the call with the id. */
  readonly ticketFor: (id: string, returnedBy: readonly string[]) => Ticket;
  /** Throws what the caller gets when Redis does not take a ticket. */
  readonly refuse: (error: unknown) => never;
  readonly limits: Pick<FleetLimits, 'firstWorkerMs' | 'lookMs'>;
}

/** `jobId` names the ticket, and may be logged: it is not the id of the call. */
type CallState =
  /** Redis is asked to take a ticket. */
  | { readonly is: 'placing'; readonly jobId: string }
  /** `looksWithWorker`: looks since a worker has got the ticket without taking the call. */
  | { readonly is: 'placed'; readonly jobId: string; readonly looksWithWorker: number }
  /** Redis did not take the ticket: the next look places another. */
  | { readonly is: 'unplaced' }
  | { readonly is: 'taken'; readonly line: Line };

interface WaitingCall extends WantedCall {
  readonly id: string;
  readonly since: number;
  readonly taken: PromiseWithResolvers<Line>;
  state: CallState;
  /** Whether a worker that had the ticket was refused. */
  isRefused: boolean;
}

/** A worker that has not taken the call after this many looks has died with the ticket, or cannot reach this front. */
const mostLooksWithWorker = 4;

export function createWaitingCalls({ nodes, queueOf, ticketFor, refuse, limits }: WaitingCallsOptions): WaitingCalls {
  /** Until their lines are closed: a worker fetches the recording of a call that it has taken. */
  const calls = new Map<string, WaitingCall>();
  const waiting = () => [...calls.values()].filter(({ state }) => state.is !== 'taken');

  async function findWorker(wanted: WantedCall, signal: AbortSignal): Promise<Line> {
    const call = waitingCall(wanted);
    const { id, taken, isFirst } = call;
    const close = () => void calls.delete(id);
    calls.set(id, call);
    try {
      signal.throwIfAborted();
      await place(call).catch(isFirst ? refuse : ignore);
      const line = await raceAbort(taken.promise, signal);
      return { ...line, end: both(close, line.end), cut: both(close, line.cut) };
    } catch (error) {
      close();
      withdraw(call);
      throw isFirst ? reasonOf(error, call) : error;
    }
  }

  async function place(call: WaitingCall): Promise<void> {
    const { id, instance, priority, returnedBy } = call;
    const jobId = newId();
    call.state = { is: 'placing', jobId };
    try {
      await queueOf(instance).add(jobId, ticketFor(id, returnedBy), priority);
      afterPlacing(call, { is: 'placed', jobId, looksWithWorker: 0 });
    } catch (error) {
      afterPlacing(call, { is: 'unplaced' });
      throw error;
    }
  }

  function withdraw({ instance, state }: WaitingCall): void {
    if (state.is === 'taken') state.line.cut();
    else if (state.is !== 'unplaced') queueOf(instance).remove(state.jobId).catch(ignore); // else its worker meets 410
  }

  async function look(): Promise<void> {
    for (const { instance, since, taken } of waiting()) {
      const isLong = performance.now() - since > limits.firstWorkerMs;
      if (isLong && nodes.absentMs(instance) > limits.firstWorkerMs)
        taken.reject(noWorker('No worker is there for this model; try again later.'));
    }
    const byInstance = Map.groupBy(waiting(), ({ instance }) => instance);
    const looks = [...byInstance].map(([instance, ofInstance]) => lookIn(queueOf(instance), ofInstance));
    await Promise.allSettled(looks); // what fails is looked at again
  }

  async function lookIn(queue: TicketQueue, ofInstance: readonly WaitingCall[]): Promise<void> {
    const placed = ofInstance.flatMap((call) => (call.state.is === 'placed' ? [{ call, ...call.state }] : []));
    const unplaced = ofInstance.filter(({ state }) => state.is === 'unplaced');
    const places = await queue.placesOf(placed.map(({ jobId }) => jobId));
    const lost = placed.flatMap(({ call }, index) => (isWaiting(call) && isLost(call, places[index]) ? [call] : []));
    for (const call of [...unplaced, ...lost]) if (isWaiting(call)) await place(call);
  }

  /** Still, after Redis has answered. */
  const isWaiting = ({ id, state }: WaitingCall) => calls.has(id) && state.is !== 'taken';

  let looking: Promise<void> | undefined;

  /** One look at a time: Redis may take longer than the interval. */
  const lookOnce = () => (looking ??= look().finally(() => (looking = undefined)));
  const timer = setInterval(() => void lookOnce(), limits.lookMs);
  return {
    findWorker,
    find(id) {
      const call = calls.get(id);
      return call && openCall(call);
    },
    look: lookOnce,
    oldestWaitMs(instance) {
      const since = waiting().flatMap((call) => (call.instance === instance ? [call.since] : []));
      return since.length === 0 ? 0 : performance.now() - Math.min(...since);
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

function waitingCall(wanted: WantedCall): WaitingCall {
  const taken = Promise.withResolvers<Line>();
  taken.promise.catch(ignore); // while Redis is still asked to take its ticket
  return { ...wanted, id: newId(), since: performance.now(), taken, state: { is: 'unplaced' }, isRefused: false };
}

function openCall(call: WaitingCall): OpenCall {
  const { document, recordingPath, taken, state } = call;
  return {
    ...{ document, recordingPath, isTaken: state.is === 'taken' },
    take(line) {
      call.state = { is: 'taken', line };
      taken.resolve(line);
    },
    refuse() {
      call.isRefused = true;
    },
  };
}

/** A worker may have taken the call before Redis has answered. */
function afterPlacing(call: WaitingCall, state: CallState): void {
  if (call.state.is === 'placing') call.state = state;
}

/** Takes note of where the ticket is. True if another one is needed. */
function isLost(call: WaitingCall, place: Place | undefined): boolean {
  if (call.state.is !== 'placed') return false; // taken meanwhile
  if (typeof place === 'number') {
    call.onQueued(place);
    return false;
  }
  const looksWithWorker = call.state.looksWithWorker + 1;
  call.state = { ...call.state, looksWithWorker };
  return place === 'lost' || looksWithWorker > mostLooksWithWorker;
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

function both(first: () => void, second: () => void): () => void {
  return () => {
    first();
    second();
  };
}

function ignore(): void {
  // Nothing depends on it.
}
