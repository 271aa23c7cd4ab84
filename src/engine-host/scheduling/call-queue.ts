/** A bounded, fair queue for engine calls: one queue per caller, served in turn by weight. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { EngineError, type CallGrant, type CallQueue, type CallQueueOptions } from '../../../engines/contract/index.ts';
import {
  type CallerQueue,
  createFairScheduler,
  endCall,
  forgetIdle,
  callsOf,
  nextCaller,
  queueOf,
  servingOrder,
  startCall,
} from './fair-scheduler.ts';
import type { QueueMetrics, QueueRefusal, QueueState } from '../../metrics/metrics.ts';
import { currentCaller, currentKey, currentUsage } from '../../request-scope.ts';
import { traced } from '../../trace.ts';

/** Number of finished calls used to estimate the duration of a call. */
const remembered = 8;

const maxRetryAfterSeconds = 3_600;

interface Waiter {
  start(): void;
  refuse(reason: QueueRefusal): void;
  /** Called with the number of calls ahead, whether or not it has changed. */
  reportPosition(ahead: number): void;
}

type Listener = Parameters<CallQueue['run']>[1];

/** Registers the queue for metrics. `state` is called for each scrape. */
type ObserveQueue = (state: () => QueueState) => QueueMetrics;

/** `now` returns monotonic milliseconds. */
export function createQueue(
  { slots, waiting: maxWaiting }: CallQueueOptions,
  now: () => number,
  observe?: ObserveQueue,
): CallQueue {
  const scheduler = createFairScheduler<Waiter>(slots);
  const { queues } = scheduler;
  /** The caller queue of each running call, in start order. */
  const running: CallerQueue<Waiter>[] = [];
  const throughput = createThroughput(now);
  let busy = 0;
  let waiting = 0;
  let willReport = false;
  const metrics = observe?.(() => ({ slots, running: busy, waiting }));

  /** Resolves with a function that releases the slot. An abort removes the call from the queue. */
  async function takeSlot(caller: string, weight: number, listener: Listener): Promise<() => void> {
    listener.signal.throwIfAborted();
    if (busy < slots) return occupySlot(queueOf(scheduler, caller, weight));
    if (waiting >= maxWaiting) makeRoomFor(caller, weight);
    return traced('queue wait', {}, () => waitForSlot(queueOf(scheduler, caller, weight), listener));
  }

  /** Notifies once for all changes in this tick: the end of one call and the start of the next are one change. */
  function reportPositions(): void {
    if (willReport || waiting === 0) return;
    willReport = true;
    queueMicrotask(() => {
      willReport = false;
      servingOrder(scheduler, running).forEach((waiter, ahead) => waiter.reportPosition(ahead));
    });
  }

  function occupySlot(queue: CallerQueue<Waiter>): () => void {
    const callEnded = throughput.callStarted();
    busy += 1;
    startCall(scheduler, queue);
    running.push(queue);
    return () => {
      callEnded();
      busy -= 1;
      running.splice(running.indexOf(queue), 1);
      endCall(scheduler, queue);
      startNext();
    };
  }

  function waitForSlot(queue: CallerQueue<Waiter>, { signal, onQueued }: Listener): Promise<() => void> {
    const { promise, resolve, reject } = Promise.withResolvers<() => void>();
    const notify = onQueued && AsyncLocalStorage.bind(onQueued); // other requests advance the queue, in their own context
    let known: number | null = null;
    const reportPosition = (ahead: number | null) => {
      if (ahead === known) return;
      known = ahead;
      notify?.(ahead);
    };
    const leaveQueue = () => {
      signal.removeEventListener('abort', abort);
      queue.waiting.delete(waiter);
      waiting -= 1;
      forgetIdle(scheduler);
      reportPositions();
    };
    const fail = (error: unknown) => {
      leaveQueue();
      reject(error);
    };
    const waiter: Waiter = {
      start() {
        const release = occupySlot(queue);
        leaveQueue();
        try {
          reportPosition(null);
          resolve(release);
        } catch (error) {
          release();
          reject(error);
        }
      },
      refuse(reason) {
        leaveQueue();
        metrics?.refused(reason);
        reject(overloaded(queue.caller, queue.weight));
      },
      reportPosition(ahead) {
        try {
          reportPosition(ahead);
        } catch (error) {
          fail(error);
        }
      },
    };
    const abort = () => {
      // The call timed out in the queue. The engine was never called, so report overloaded, not engine-timeout.
      if (EngineError.is(signal.reason) && signal.reason.code === 'engine-timeout') return waiter.refuse('deadline');
      fail(signal.reason);
    };
    queue.waiting.add(waiter);
    waiting += 1;
    signal.addEventListener('abort', abort, { once: true });
    reportPositions();
    return promise;
  }

  function startNext(): void {
    const [oldest] = nextCaller(scheduler)?.waiting ?? [];
    oldest?.start();
  }

  /**
   * Rejects the newest waiter of the queue that is longest relative to its weight, or throws `overloaded`. Running
   * calls count as well. Callers with equally many calls never evict each other, and a caller's only call stays.
   */
  function makeRoomFor(caller: string, weight: number): void {
    const crowded = [...queues.values()].filter((queue) => queue.waiting.size > 0 && callsOf(queue) > 1);
    const [first, ...others] = crowded;
    if (first === undefined) throw full(caller, weight);
    const longest = others.reduce((one, other) => (isLonger(one, other) ? one : other), first);
    const own = callsOf(queues.get(caller));
    const staysShorter = own === 0 || (own + 1) / weight <= (callsOf(longest) - 1) / longest.weight;
    if (!staysShorter) throw full(caller, weight);
    [...longest.waiting].at(-1)?.refuse('pushed_out');
  }

  function full(caller: string, weight: number): EngineError {
    metrics?.refused('full');
    return overloaded(caller, weight);
  }

  function overloaded(caller: string, weight: number): EngineError {
    const retryAfter = Math.min(maxRetryAfterSeconds, Math.max(1, secondsUntilServed(caller, weight)));
    return new EngineError('overloaded', 'The queue of this model is full; try again later.', { retryAfter });
  }

  /**
   * Estimates the seconds until an additional call by the caller would start: every other caller gets turns by weight,
   * but no more than it has waiting calls.
   */
  function secondsUntilServed(caller: string, weight: number): number {
    const own = (queues.get(caller)?.waiting.size ?? 0) + 1;
    let calls = own;
    for (const queue of queues.values()) {
      if (queue.caller !== caller) calls += Math.min(queue.waiting.size, Math.ceil((own * queue.weight) / weight));
    }
    return Math.round(calls * throughput.msPerCall()) / 1000;
  }

  return {
    get full() {
      return busy >= slots && waiting >= maxWaiting;
    },
    async run(call, listener) {
      const [usage, since] = [currentUsage(), now()];
      const release = await takeSlot(currentCaller(), currentKey()?.weight ?? 1, listener);
      try {
        const waitedMs = now() - since;
        if (usage) usage.queueMs = (usage.queueMs ?? 0) + waitedMs;
        metrics?.started(waitedMs);
        return await call({});
      } finally {
        release();
      }
    },
  };
}

function isLonger(one: CallerQueue<Waiter>, other: CallerQueue<Waiter>): boolean {
  const [waits, otherWaits] = [one.waiting.size / one.weight, other.waiting.size / other.weight];
  return waits === otherWaits ? one.running / one.weight > other.running / other.weight : waits > otherWaits;
}

/**
 * Estimates the throughput from the last finished calls. A running call that has exceeded their mean counts with its
 * own duration so far.
 */
function createThroughput(now: () => number) {
  const running = new Set<{ readonly since: number }>();
  const finishedMs: number[] = [];
  return {
    /** Returns a function to call when the call has ended. */
    callStarted(): () => void {
      const call = { since: now() };
      running.add(call);
      return () => {
        running.delete(call);
        finishedMs.push(now() - call.since);
        if (finishedMs.length > remembered) finishedMs.shift();
      };
    },
    /** Returns the mean time between two slots becoming free while every slot is busy. */
    msPerCall(): number {
      const meanMs = finishedMs.reduce((sum, ms) => sum + ms, 0) / (finishedMs.length || 1);
      let callsPerMs = 0;
      for (const { since } of running) callsPerMs += 1 / Math.max(meanMs, now() - since);
      return 1 / callsPerMs;
    },
  };
}

interface CoreLease extends Disposable {
  readonly threads: number;
}

type CorePlan = ReturnType<typeof createCorePlan>;

export function createCorePlan(cores: number) {
  let inUse = 0;
  return {
    /**
     * A call gets all free cores if it takes the last slot of its queue. While the queue has free slots, it gets at
     * most half of the free cores, rounded up, because later calls need cores too. Every call gets at least one thread,
     * even if no core is free.
     */
    take(idleSlots: number): CoreLease {
      const free = cores - inUse;
      const share = idleSlots === 0 ? free : Math.min(Math.ceil(free / 2), free - idleSlots);
      return this.hold(Math.max(1, share));
    },
    /** Takes cores for a call whose number of threads is fixed by a setting. */
    hold(threads: number): CoreLease {
      inUse += threads;
      return { threads, [Symbol.dispose]: () => void (inUse -= threads) };
    },
  };
}

/** Returns a function that runs the calls of a queue, each with its share of threads. */
export function grantThreads({ slots, threads }: CallQueueOptions, cores: CorePlan) {
  let busy = 0;
  return async <T>(call: (grant: CallGrant) => Promise<T>): Promise<T> => {
    if (threads === undefined) return call({});
    busy += 1;
    using lease = threads === 'shared' ? cores.take(slots - busy) : cores.hold(threads);
    try {
      return await call({ threads: lease.threads });
    } finally {
      busy -= 1;
    }
  };
}
