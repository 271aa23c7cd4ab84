/**
 * Enforces fair shares and the queue limit across all fronts. Redis holds each open call under its caller, and the
 * entry expires when its front dies. The n-th open call of a caller (of weight 1) has priority n: it waits behind the
 * first n-1 calls of every other caller.
 */
import { ignore } from '../../lib/errors.ts';
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
  readonly timeouts: Pick<FleetTimeouts, 'announceMs' | 'announcedMs'>;
}

interface AdmissionRequest {
  readonly id: string;
  readonly instance: string;
  readonly caller: string;
  /** Weight of the caller's key: with 2 it counts as two callers. */
  readonly weight: number;
}

/**
 * All calls together may reach this multiple of the bound, because shares shrink when callers arrive, and calls
 * admitted earlier may exceed them.
 */
const hardBound = 2;

const maxRetryAfterSeconds = 3_600;
const defaultMeanMs = 5_000;

export type Admissions = ReturnType<typeof createAdmissions>;

export function createAdmissions({ redis, nodes, consumers, secret, timeouts }: AdmissionsOptions) {
  const open = new Set<OpenCallKey>();
  /** Open calls of all fronts, by instance. */
  const counts = new Map<string, { calls: number; at: number }>();

  async function keepAndCount(call: OpenCallKey): Promise<OpenCallCounts> {
    const held = await redis.keepOpen(call, timeouts.announcedMs);
    counts.set(call.instance, { calls: held.calls, at: performance.now() });
    return held;
  }

  /** Renews the open calls of this front in Redis. Failures are ignored, because redis.ts logs outages. */
  function keep(): void {
    for (const call of open) keepAndCount(call).catch(ignore); // not awaited: calls are renewed in the background
  }
  const timer = setInterval(keep, timeouts.announceMs);

  /**
   * A single caller may have as many open calls as there are slots and places in the queue, as on one machine. With
   * more callers, twice that number is divided equally, with one share reserved for the next caller. The weights of
   * other callers count as 1.
   */
  function requireShare({ instance, weight }: AdmissionRequest, { calls, ofCaller, callers }: OpenCallCounts): void {
    const { slots, meanMs } = nodes.capacityOf(instance);
    const bound = 2 * (Math.max(1, slots) + consumers.waitingOf(instance));
    const share = Math.max(1, Math.floor((bound * weight) / (callers + weight)));
    if (ofCaller <= share && calls <= hardBound * bound) return;
    const seconds = Math.ceil((calls * (meanMs || defaultMeanMs)) / Math.max(1, slots) / 1000);
    const retryAfter = Math.min(maxRetryAfterSeconds, seconds);
    throw new EngineError('overloaded', 'The queue of this model is full; try again later.', { retryAfter });
  }

  return {
    /**
     * Resolves with the priority, from 1; lower numbers are served first. Throws `overloaded` when the caller has used
     * its share of the queue; rejects when Redis does not respond.
     */
    async admit(request: AdmissionRequest) {
      const { id, instance, caller, weight } = request;
      const call = { id, instance, caller: pseudonymOf(secret, caller) };
      const giveBack = (): void => {
        open.delete(call);
        const count = counts.get(instance);
        if (count) count.calls -= 1;
        redis.release(call).catch(ignore); // the entry expires
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
    /**
     * Whether all slots are busy and the queue is full, according to the last count of this front. A new caller may
     * still be admitted.
     */
    isFull(instance: string) {
      const { calls = 0, at = 0 } = counts.get(instance) ?? {};
      const isCurrent = performance.now() - at < 2 * timeouts.announceMs;
      return isCurrent && calls >= Math.max(1, nodes.capacityOf(instance).slots) + consumers.waitingOf(instance);
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}
