/**
 * Fairness and the bound of the queue, over all fronts. Each open call is held in Redis under its caller, and leaves by
 * itself when its front dies. The n-th open call of a caller waits behind everybody's first n-1: that is its priority.
 */
import { ignore } from '../../lib/ignore.ts';
import { EngineError } from '../../engines/contract/index.ts';
import type { FleetTimeouts } from './timeouts.ts';
import type { Nodes } from './nodes.ts';
import type { OpenCallCounts, OpenCallKey, Redis } from './redis.ts';
import type { TicketConsumers } from './ticket-consumers.ts';
import { pseudonymOf } from './ticket.ts';

export interface AdmissionsOptions {
  readonly redis: Pick<Redis, 'keepOpen' | 'release'>;
  readonly nodes: Pick<Nodes, 'capacityOf'>;
  readonly consumers: Pick<TicketConsumers, 'waitingOf'>;
  readonly secret: string;
  readonly limits: Pick<FleetTimeouts, 'announceMs' | 'announcedMs'>;
}

interface AdmissionRequest {
  readonly id: string;
  readonly instance: string;
  readonly caller: string;
  /** Weight of the caller's key: with 2 it counts as two callers. */
  readonly weight: number;
}

/** There is room for newcomers beside callers whose shares have shrunk since they took them. */
const hardBound = 2;

const longestRetryAfterSeconds = 3_600;
const usualMeanMs = 5_000;

export type Admissions = ReturnType<typeof createAdmissions>;

export function createAdmissions({ redis, nodes, consumers, secret, limits }: AdmissionsOptions) {
  const open = new Set<OpenCallKey>();
  /** Open calls by instance, of all fronts. */
  const counts = new Map<string, { calls: number; at: number }>();

  async function keepAndCount(call: OpenCallKey): Promise<OpenCallCounts> {
    const held = await redis.keepOpen(call, limits.announcedMs);
    counts.set(call.instance, { calls: held.calls, at: performance.now() });
    return held;
  }

  /** Holds the open calls of this front again, for what Redis has forgotten. It logs its own outages. */
  function keep(): void {
    for (const call of open) keepAndCount(call).catch(ignore); // shares are kept in the background
  }
  const timer = setInterval(keep, limits.announceMs);

  /**
   * A lone caller may have as many open calls as slots and places in the queue, as on one machine. With more callers each has
   * an equal part of twice as many, with one part to spare for the next. (The weights of the others count as 1.)
   */
  function requireShare({ instance, weight }: AdmissionRequest, { calls, ofCaller, callers }: OpenCallCounts): void {
    const { slots, meanMs } = nodes.capacityOf(instance);
    const bound = 2 * (Math.max(1, slots) + consumers.waitingOf(instance));
    const share = Math.max(1, Math.floor((bound * weight) / (callers + weight)));
    if (ofCaller <= share && calls <= hardBound * bound) return;
    const seconds = Math.ceil((calls * (meanMs || usualMeanMs)) / Math.max(1, slots) / 1000);
    const retryAfter = Math.min(longestRetryAfterSeconds, seconds);
    throw new EngineError('overloaded', 'The queue of this model is full; try again later.', { retryAfter });
  }

  return {
    /**
     * Resolves with the priority, from 1; lower ones are served first. Throws `overloaded` when the caller has its share of
     * the queue; rejects when Redis does not answer.
     */
    async admit(request: AdmissionRequest) {
      const { id, instance, caller, weight } = request;
      const call = { id, instance, caller: pseudonymOf(secret, caller) };
      const giveBack = (): void => {
        open.delete(call);
        const count = counts.get(instance);
        if (count) count.calls -= 1;
        redis.release(call).catch(ignore); // it expires
      };
      open.add(call);
      try {
        const held = await keepAndCount(call);
        requireShare(request, held);
        return { priority: Math.ceil(held.ofCaller / weight), [Symbol.dispose]: giveBack };
      } catch (error) {
        giveBack();
        throw error;
      }
    },
    keep,
    /** Whether all slots are busy and the queue is full, as far as this front has seen. A newcomer may be admitted all the same. */
    isFull(instance: string) {
      const { calls = 0, at = 0 } = counts.get(instance) ?? {};
      const isCurrent = performance.now() - at < 2 * limits.announceMs;
      return isCurrent && calls >= Math.max(1, nodes.capacityOf(instance).slots) + consumers.waitingOf(instance);
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}
