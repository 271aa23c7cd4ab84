/** What this node takes tickets for: the instances whose engine can work now, with as many tickets as it has slots. */
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger, QueueOptions, TranscriptionEngine } from '../../engines/contract/index.ts';
import type { FleetLimits } from './limits.ts';
import type { Capacity } from './nodes.ts';
import type { Redis, TicketWorker } from './redis.ts';
import { queueName } from './ticket.ts';

/** Resolves with whether a call was run for the ticket; never rejects. */
export type TakeTicket = (ticket: unknown) => Promise<boolean>;

export interface Takers {
  readonly noteQueue: (instance: string, options: QueueOptions) => void;
  /** Calls that may wait for the instance. */
  readonly waitingOf: (instance: string) => number;
  readonly add: (instance: string, engine: TranscriptionEngine) => void;
  readonly engineOf: (instance: string) => TranscriptionEngine | undefined;
  /** The instances that it takes tickets for now. */
  capacities(): Readonly<Record<string, Capacity>>;
  /** Begins with each instance as soon as one of its models is available. `onChange` is called for each. */
  readonly start: (run: TakeTicket, onChange: () => void) => void;
  /** Takes no more; resolves when nothing is at work. */
  drain(): Promise<void>;
}

/** For an engine without a queue. */
const usualWaiting = 16;

/** Number of finished jobs used to estimate the duration of a job. */
const remembered = 8;

export function createTakers(redis: Redis, limits: FleetLimits, log: Logger): Takers {
  const engines = new Map<string, TranscriptionEngine>();
  const queues = new Map<string, QueueOptions>();
  const workers = new Map<string, TicketWorker>();
  const durations = new Map<string, number[]>();
  const running = new Set<Promise<boolean>>();
  const drained = new AbortController();

  const isDrained = () => drained.signal.aborted;
  const slotsOf = (instance: string) => queues.get(instance)?.slots ?? availableParallelism();

  async function clocked(instance: string, work: Promise<boolean>): Promise<void> {
    const started = performance.now();
    running.add(work);
    const hasWorked = await work;
    running.delete(work);
    if (!hasWorked) return;
    const last = durations.get(instance) ?? [];
    durations.set(instance, [...last, performance.now() - started].slice(-remembered));
  }

  async function begin(run: TakeTicket, onChange: () => void): Promise<void> {
    while (workers.size < engines.size) {
      for (const [instance, engine] of engines) {
        if (workers.has(instance) || !(await isAble(engine))) continue;
        if (isDrained()) return;
        const take = (ticket: unknown) => clocked(instance, run(ticket));
        workers.set(instance, redis.work(queueName(instance), slotsOf(instance), take));
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
        return [instance, { slots: slotsOf(instance), meanMs: Math.round(meanMs) }] as const;
      });
      return isDrained() ? {} : Object.fromEntries(capacities);
    },
    start: (run, onChange) => void begin(run, onChange),
    async drain() {
      drained.abort();
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
