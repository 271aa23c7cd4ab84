/** The instances that this node takes tickets for: those whose engine can work now, with as many tickets as it has slots. */
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger, QueueOptions, TranscriptionEngine } from '../../engines/contract/index.ts';
import { createBackOff } from './back-off.ts';
import type { FleetTimeouts } from './timeouts.ts';
import type { Capacity } from './nodes.ts';
import type { Redis, TicketWorker } from './redis.ts';
import { queueName } from './ticket.ts';
import type { Report } from './call-runner.ts';

/** Never rejects. */
export type ConsumeTicket = (
  ticket: unknown,
  options: {
    readonly report: Report;
    /** Whether this node leaves tickets of the instance to others: it still gets one that it was waiting for. */
    readonly isPaused: boolean;
  },
) => Promise<void>;

export interface TicketConsumers {
  readonly noteQueue: (instance: string, options: QueueOptions) => void;
  /** Calls that may wait for the instance. */
  readonly waitingOf: (instance: string) => number;
  readonly add: (instance: string, engine: TranscriptionEngine) => void;
  readonly engineOf: (instance: string) => TranscriptionEngine | undefined;
  /** The instances that it takes tickets for now. */
  capacities(): Readonly<Record<string, Capacity>>;
  /** Whether it takes none after failures of its own. */
  readonly isPaused: (instance: string) => boolean;
  /** Begins with each instance as soon as one of its models is available. `onChange` is called when capacities change. */
  readonly start: (run: ConsumeTicket, onChange: () => void) => void;
  /** Takes no more; resolves when nothing is at work. */
  drain(): Promise<void>;
}

/** For an engine without a queue. */
const usualWaiting = 16;

/** Number of finished jobs used to estimate the duration of a job. */
const remembered = 8;

export interface TicketConsumersOptions {
  readonly redis: Pick<Redis, 'work'>;
  /** Whether another worker is there for the instance. */
  readonly hasOthers: (instance: string) => boolean;
  readonly limits: FleetTimeouts;
  readonly log: Logger;
}

export function createTicketConsumers({ redis, hasOthers, limits, log }: TicketConsumersOptions): TicketConsumers {
  const engines = new Map<string, TranscriptionEngine>();
  const queues = new Map<string, QueueOptions>();
  const workers = new Map<string, TicketWorker>();
  const durations = new Map<string, number[]>();
  const running = new Set<Promise<void>>();
  /** The ends of pauses. */
  const pauses = new Map<string, NodeJS.Timeout>();
  const drained = new AbortController();

  const isDrained = () => drained.signal.aborted;
  const slotsOf = (instance: string) => queues.get(instance)?.slots ?? availableParallelism();

  async function finished(work: Promise<void>): Promise<void> {
    running.add(work);
    await work;
    running.delete(work);
  }

  function noteDuration(instance: string, ms: number): void {
    const last = durations.get(instance) ?? [];
    durations.set(instance, [...last, ms].slice(-remembered));
  }

  function pause(instance: string, worker: TicketWorker, ms: number, onChange: () => void): void {
    worker.pause();
    const resume = () => {
      pauses.delete(instance);
      worker.resume();
      onChange();
    };
    pauses.set(instance, setTimeout(resume, ms));
    onChange();
  }

  function takeFrom(instance: string, run: ConsumeTicket, onChange: () => void): TicketWorker {
    const backOff = createBackOff(limits);
    const isPaused = () => pauses.has(instance);
    const worker = redis.work(queueName(instance), slotsOf(instance), (ticket) => {
      const started = performance.now();
      const report: Report = (end, code) => {
        if (end === 'done') noteDuration(instance, performance.now() - started);
        // Calls that were at work when a pause began do not make it longer. Without others, callers would only wait.
        const mayPause = !isDrained() && !isPaused() && hasOthers(instance);
        const ms = mayPause || end === 'done' ? backOff(end) : 0;
        if (ms === 0) return;
        log.warn({ instance, code, ms }, 'takes no tickets for a while: the last ones failed on this worker');
        pause(instance, worker, ms, onChange);
      };
      return finished(run(ticket, { report, isPaused: isPaused() }));
    });
    return worker;
  }

  async function begin(run: ConsumeTicket, onChange: () => void): Promise<void> {
    while (workers.size < engines.size) {
      for (const [instance, engine] of engines) {
        if (workers.has(instance) || !(await isAble(engine))) continue;
        if (isDrained()) return;
        workers.set(instance, takeFrom(instance, run, onChange));
        log.info({ instance, slots: slotsOf(instance) }, 'takes tickets');
        onChange();
      }
      await sleep(limits.readNodesMs, undefined, { signal: drained.signal }).catch(() => undefined);
      if (isDrained()) return;
    }
  }

  return {
    noteQueue: (instance, options) => void queues.set(instance, options),
    waitingOf: (instance) => queues.get(instance)?.waiting ?? usualWaiting,
    add: (instance, engine) => void engines.set(instance, engine),
    engineOf: (instance) => engines.get(instance),
    capacities() {
      const capacities = [...workers.keys()].map((instance) => {
        const last = durations.get(instance) ?? [];
        const meanMs = last.reduce((sum, ms) => sum + ms, 0) / (last.length || 1);
        return [instance, { slots: pauses.has(instance) ? 0 : slotsOf(instance), meanMs: Math.round(meanMs) }] as const;
      });
      return isDrained() ? {} : Object.fromEntries(capacities);
    },
    isPaused: (instance) => pauses.has(instance),
    start: (run, onChange) => void begin(run, onChange),
    async drain() {
      drained.abort();
      for (const timer of pauses.values()) clearTimeout(timer);
      // Not waited for: they wait for Redis.
      for (const worker of workers.values()) worker.close().catch(() => undefined);
      while (running.size > 0) await Promise.all(running);
    },
  };
}

/** The engine is guarded: neither function throws. */
async function isAble(engine: TranscriptionEngine): Promise<boolean> {
  const models = await engine.models();
  const found = await Promise.all(models.map(({ id }) => engine.availability(id)));
  return found.some(({ available }) => available);
}
