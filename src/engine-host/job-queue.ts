/** A bounded, fair job queue for CPU-bound work: one line per caller, served round-robin. */
import { EngineError, type JobQueue, type QueueOptions } from '../../engines/contract/index.ts';
import { currentCaller, currentUsage } from '../caller.ts';
import type { QueueMetrics, QueueRefusal, QueueState } from '../metrics/metrics.ts';
import { nextInTurn, servingOrder, type Line as LineOf } from './turns.ts';

/** Number of finished jobs used to estimate the duration of a job. */
const remembered = 8;

const longestRetryAfterSeconds = 3_600;

type Line = LineOf<Waiter>;

interface Waiter {
  start(): void;
  refuse(reason: QueueRefusal): void;
  /** Its number of jobs ahead, whether or not it has changed. */
  place(ahead: number): void;
}

type Listener = Parameters<JobQueue['run']>[1];

/** Registers the queue; `state` is read whenever somebody looks at the metrics. */
export type ObserveQueue = (state: () => QueueState) => QueueMetrics;

/** `now` returns monotonic milliseconds. */
export function createQueue(
  { slots, waiting: places }: QueueOptions,
  now: () => number,
  observe?: ObserveQueue,
): JobQueue {
  /** In order of turn: the caller whose job ended last comes last. Callers without jobs are removed. */
  const lines = new Map<string, Line>();
  /** The line of each running job, in order of start. */
  const running: Line[] = [];
  const pace = createPace(now);
  let busy = 0;
  let waiting = 0;
  let willPlace = false;
  const metrics = observe?.(() => ({ slots, running: busy, waiting }));

  /** Resolves with the function that releases the slot. An abort removes the job from the line. */
  async function takeSlot(caller: string, listener: Listener): Promise<() => void> {
    listener.signal.throwIfAborted();
    if (busy < slots) return occupySlot(caller, lineOf(caller));
    if (waiting >= places) makeRoomFor(caller);
    return waitForSlot(caller, lineOf(caller), listener);
  }

  /** Once for all changes of this tick: one job that ends and the next that starts are one change. */
  function placeAll(): void {
    if (willPlace || waiting === 0) return;
    willPlace = true;
    queueMicrotask(() => {
      willPlace = false;
      servingOrder(lines.values(), running).forEach((waiter, ahead) => waiter.place(ahead));
    });
  }

  function lineOf(caller: string): Line {
    const line = lines.get(caller) ?? { waiting: new Set(), running: 0 };
    lines.set(caller, line);
    return line;
  }

  function occupySlot(caller: string, line: Line): () => void {
    const jobEnded = pace.jobStarted();
    busy += 1;
    line.running += 1;
    running.push(line);
    return () => {
      jobEnded();
      busy -= 1;
      line.running -= 1;
      running.splice(running.indexOf(line), 1);
      lines.delete(caller);
      if (jobsOf(line) > 0) lines.set(caller, line);
      startNext();
    };
  }

  function waitForSlot(caller: string, line: Line, { signal, onQueued }: Listener): Promise<() => void> {
    const { promise, resolve, reject } = Promise.withResolvers<() => void>();
    let known: number | null = null;
    const place = (ahead: number | null) => {
      if (ahead === known) return;
      known = ahead;
      onQueued?.(ahead);
    };
    const removeFromLine = () => {
      signal.removeEventListener('abort', abort);
      line.waiting.delete(waiter);
      waiting -= 1;
      if (jobsOf(line) === 0) lines.delete(caller);
      placeAll();
    };
    const fail = (error: unknown) => {
      removeFromLine();
      reject(error);
    };
    const waiter: Waiter = {
      start() {
        const release = occupySlot(caller, line);
        removeFromLine();
        try {
          place(null);
          resolve(release);
        } catch (error) {
          release();
          reject(error);
        }
      },
      refuse(reason) {
        removeFromLine();
        metrics?.refused(reason);
        reject(overloaded(caller));
      },
      place(ahead) {
        try {
          place(ahead);
        } catch (error) {
          fail(error);
        }
      },
    };
    const abort = () => {
      // Timed out while queued: the engine was never called, so report overloaded, not engine-timeout.
      if (EngineError.is(signal.reason) && signal.reason.code === 'engine-timeout') return waiter.refuse('deadline');
      fail(signal.reason);
    };
    line.waiting.add(waiter);
    waiting += 1;
    signal.addEventListener('abort', abort, { once: true });
    placeAll();
    return promise;
  }

  function startNext(): void {
    const [oldest] = nextInTurn(lines.values())?.waiting ?? [];
    oldest?.start();
  }

  /**
   * Rejects the newest waiter of the longest line, or throws. Running jobs count as well, and callers with equally many
   * jobs never evict each other.
   */
  function makeRoomFor(caller: string): void {
    const longest = [...lines.values()].reduce((one, other) => (isLonger(one, other) ? one : other));
    const newest = [...longest.waiting].at(-1);
    if (newest === undefined || jobsOf(longest) <= jobsOf(lines.get(caller)) + 1) {
      metrics?.refused('full');
      throw overloaded(caller);
    }
    newest.refuse('pushed_out');
  }

  function overloaded(caller: string): EngineError {
    const retryAfter = Math.min(longestRetryAfterSeconds, Math.max(1, secondsUntilServed(caller)));
    return new EngineError('overloaded', 'The queue of this model is full; try again later.', { retryAfter });
  }

  /** Estimates when one more job of the caller would start: every other caller gets at most as many turns as it needs. */
  function secondsUntilServed(caller: string): number {
    const turns = (lines.get(caller)?.waiting.size ?? 0) + 1;
    let jobs = turns;
    for (const [other, line] of lines) if (other !== caller) jobs += Math.min(line.waiting.size, turns);
    return Math.round(jobs * pace.msPerJob()) / 1000;
  }

  return {
    get full() {
      return busy >= slots && waiting >= places;
    },
    async run(job, listener) {
      const [usage, since] = [currentUsage(), now()];
      const release = await takeSlot(currentCaller(), listener);
      try {
        const waitedMs = now() - since;
        if (usage) usage.queueMs = (usage.queueMs ?? 0) + waitedMs;
        metrics?.started(waitedMs);
        return await job();
      } finally {
        release();
      }
    },
  };
}

function jobsOf(line: Line | undefined): number {
  return line === undefined ? 0 : line.waiting.size + line.running;
}

function isLonger(one: Line, other: Line): boolean {
  return one.waiting.size === other.waiting.size ? one.running > other.running : one.waiting.size > other.waiting.size;
}

interface Pace {
  /** Returns a function to call when the job has ended. */
  jobStarted(): () => void;
  /** While every slot is busy: the mean time between two free slots. */
  msPerJob(): number;
}

/** Estimates from the last finished jobs. A job that already runs longer than their mean counts with its own time. */
function createPace(now: () => number): Pace {
  const running = new Set<{ readonly since: number }>();
  const finishedMs: number[] = [];
  return {
    jobStarted() {
      const job = { since: now() };
      running.add(job);
      return () => {
        running.delete(job);
        finishedMs.push(now() - job.since);
        if (finishedMs.length > remembered) finishedMs.shift();
      };
    },
    msPerJob() {
      const meanMs = finishedMs.reduce((sum, ms) => sum + ms, 0) / (finishedMs.length || 1);
      let jobsPerMs = 0;
      for (const { since } of running) jobsPerMs += 1 / Math.max(meanMs, now() - since);
      return 1 / jobsPerMs;
    },
  };
}
