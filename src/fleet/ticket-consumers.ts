/**
 * Takes tickets for the instances whose engines are available on this node, as many at a time as the engine has slots.
 */
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EngineErrorCode, Logger, CallQueueOptions } from '../../engines/contract/index.ts';
import type { Instance } from '../engine-host/models/instance.ts';
import { createBackOff, type CallEnd } from './back-off.ts';
import type { FleetTimeouts } from './timeouts.ts';
import type { Capacity } from './nodes.ts';
import type { Redis, TicketWorker } from './redis.ts';
import { queueName } from './ticket.ts';

/** Reports the outcome of a call. `code`: the error code of a failure. */
type Report = (end: CallEnd, code: EngineErrorCode | undefined) => void;

/** Runs the call of a ticket. Never rejects. */
export type ConsumeTicket = (
  ticket: unknown,
  options: {
    readonly report: Report;
    /** Whether this node is paused for the instance. It may still receive a ticket that it was already waiting for. */
    readonly isPaused: boolean;
  },
) => Promise<void>;

/** Queue size of an engine without a queue. */
const defaultWaiting = 16;

/** Number of finished calls used to estimate the duration of a call. */
const remembered = 8;

type ServingInstance = Pick<Instance<'transcription'>, 'name' | 'engine' | 'published' | 'availabilityOf'>;

export interface TicketConsumersOptions {
  readonly redis: Pick<Redis, 'work'>;
  /** Whether another worker serves the instance. */
  readonly hasOthers: (instance: string) => boolean;
  /** Called when capacities change. */
  readonly onChange: () => void;
  readonly timeouts: FleetTimeouts;
  readonly log: Logger;
}

export type TicketConsumers = ReturnType<typeof createTicketConsumers>;

export function createTicketConsumers({ redis, hasOthers, onChange, timeouts, log }: TicketConsumersOptions) {
  const instances = new Map<string, ServingInstance>();
  const queues = new Map<string, CallQueueOptions>();
  const workers = new Map<string, TicketWorker>();
  const durations = new Map<string, number[]>();
  const running = new Set<Promise<void>>();
  /** Timers that end pauses, by instance. */
  const pauses = new Map<string, NodeJS.Timeout>();
  const drained = new AbortController();

  const isDrained = () => drained.signal.aborted;
  const slotsOf = (instance: string) => queues.get(instance)?.slots ?? availableParallelism();
  const durationsOf = (instance: string) => durations.get(instance) ?? [];

  function pause(instance: string, ms: number): void {
    const resume = () => {
      pauses.delete(instance);
      workers.get(instance)?.resume();
      onChange();
    };
    workers.get(instance)?.pause();
    pauses.set(instance, setTimeout(resume, ms));
    onChange();
  }

  function takeFrom(instance: string, run: ConsumeTicket): TicketWorker {
    const backOff = createBackOff(timeouts);
    return redis.work(queueName(instance), slotsOf(instance), async (ticket) => {
      const started = performance.now();
      const report: Report = (end, code) => {
        const took = performance.now() - started;
        if (end === 'done') durations.set(instance, [...durationsOf(instance), took].slice(-remembered));
        // Calls that were running when a pause began do not extend it. A single worker never pauses: callers would only
        // wait.
        const mayPause = !isDrained() && !pauses.has(instance) && hasOthers(instance);
        const ms = mayPause || end === 'done' ? backOff(end) : 0;
        if (ms === 0) return;
        log.warn({ instance, code, ms }, 'pausing: the last tickets failed on this worker');
        pause(instance, ms);
      };
      const work = run(ticket, { report, isPaused: pauses.has(instance) });
      running.add(work);
      await work;
      running.delete(work);
    });
  }

  async function begin(run: ConsumeTicket): Promise<void> {
    while (workers.size < instances.size) {
      for (const [instance, serving] of instances) {
        if (workers.has(instance) || !isAble(serving)) continue;
        workers.set(instance, takeFrom(instance, run));
        log.info({ instance, slots: slotsOf(instance) }, 'takes tickets');
        onChange();
      }
      await sleep(timeouts.readNodesMs, undefined, { signal: drained.signal }).catch(() => undefined);
      if (isDrained()) return;
    }
  }

  return {
    registerQueue: (instance: string, options: CallQueueOptions) => void queues.set(instance, options),
    /** Returns the maximum number of calls that may wait for the instance. */
    waitingOf: (instance: string) => queues.get(instance)?.waiting ?? defaultWaiting,
    add: (instance: ServingInstance) => void instances.set(instance.name, instance),
    engineOf: (instance: string) => instances.get(instance)?.engine,
    /** Returns the capacities of the instances that this node takes tickets for; a paused one has 0 slots. */
    capacities(): Readonly<Record<string, Capacity>> {
      const capacities = [...workers.keys()].map((instance) => {
        const last = durationsOf(instance);
        const meanMs = last.reduce((sum, ms) => sum + ms, 0) / (last.length || 1);
        return [instance, { slots: pauses.has(instance) ? 0 : slotsOf(instance), meanMs: Math.round(meanMs) }] as const;
      });
      return isDrained() ? {} : Object.fromEntries(capacities);
    },
    /** Whether this node has stopped taking tickets for the instance after its own failures. */
    isPaused: (instance: string) => pauses.has(instance),
    /** Starts taking tickets for each instance as soon as one of its models is available. */
    start: (run: ConsumeTicket) => void begin(run),
    /** Stops taking tickets; resolves when no call is running. */
    async drain() {
      drained.abort();
      for (const timer of pauses.values()) clearTimeout(timer);
      // Not awaited: close() waits for Redis.
      for (const worker of workers.values()) worker.close().catch(() => undefined);
      while (running.size > 0) await Promise.all(running);
    },
  };
}

function isAble({ published, availabilityOf }: ServingInstance): boolean {
  return published.entries.some((entry) => availabilityOf(entry).available);
}
