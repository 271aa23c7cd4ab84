/** The state of the fleet for the metrics, from this node and from Redis. */
import type { FleetState } from '../metrics/metrics.ts';
import type { Front } from './front.ts';
import type { Announcement, Nodes } from './nodes.ts';
import type { Redis } from './redis.ts';
import type { TicketConsumers } from './ticket-consumers.ts';
import { queueName } from './ticket.ts';

export interface StateSources {
  readonly redis: Pick<Redis, 'countCalls'>;
  readonly nodes: Pick<Nodes, 'all' | 'capacityOf' | 'trouble' | 'isSettled'>;
  /** Undefined if this node is not a front. */
  readonly front: Pick<Front, 'oldestWaitMs'> | undefined;
  /** Undefined if this node is not a worker. */
  readonly consumers: Pick<TicketConsumers, 'isPaused'> | undefined;
  /** The instances that workers run. */
  readonly instances: Iterable<string>;
}

/** Resolves within the timeout of Redis. If Redis accepts no writes, its data is outdated and omitted. */
export async function readState({ redis, nodes, front, consumers, instances }: StateSources): Promise<FleetState> {
  const ofInstance = async (engine: string) => {
    const calls = await redis.countCalls(engine, queueName(engine)).catch(() => undefined); // Redis is unavailable
    return { engine, calls, oldestWaitMs: front?.oldestWaitMs(engine), isPaused: consumers?.isPaused(engine) };
  };
  const found = await Promise.all([...instances].map(ofInstance));
  const isRedisUp = nodes.trouble === undefined && found.every(({ calls }) => calls !== undefined);
  const isKnown = isRedisUp && nodes.isSettled;
  const engines = found.map(({ calls, ...engine }) => ({
    ...engine,
    all: isKnown && calls ? { ...calls, slots: nodes.capacityOf(engine.engine).slots } : undefined,
  }));
  return { isRedisUp, engines, nodes: isKnown ? countRoles(nodes.all()) : undefined };
}

/** A node with both roles counts as both. */
export function countRoles(nodes: ReadonlyMap<string, Announcement>) {
  const all = [...nodes.values()];
  return {
    fronts: all.filter(({ address }) => address !== undefined).length,
    workers: all.filter(({ instances }) => Object.keys(instances).length > 0).length,
  };
}
