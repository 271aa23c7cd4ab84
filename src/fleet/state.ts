/** The state of the fleet for metrics: what this node knows, and what Redis counts. */
import type { FleetState } from '../metrics/metrics.ts';
import type { Front } from './front.ts';
import type { Announcement, Nodes } from './nodes.ts';
import type { Redis } from './redis.ts';
import { queueName } from './ticket.ts';

export interface StateSources {
  readonly redis: Pick<Redis, 'countCalls' | 'isReady'>;
  readonly nodes: Pick<Nodes, 'all' | 'capacityOf'>;
  /** Undefined on a node that is none. */
  readonly front: Pick<Front, 'oldestWaitMs'> | undefined;
  /** The instances whose work is done by workers. */
  readonly instances: Iterable<string>;
}

/** Takes no longer than the timeout of Redis. */
export async function readState({ redis, nodes, front, instances }: StateSources): Promise<FleetState> {
  const ofInstance = async (engine: string) => {
    const calls = await redis.countCalls(engine, queueName(engine)).catch(() => undefined); // it is away
    const all = calls && { ...calls, slots: nodes.capacityOf(engine).slots };
    return { engine, all, oldestWaitMs: front?.oldestWaitMs(engine) };
  };
  const engines = await Promise.all([...instances].map(ofInstance));
  const isRedisUp = redis.isReady && engines.every(({ all }) => all !== undefined);
  return { isRedisUp, engines, nodes: isRedisUp ? countRoles(nodes.all()) : undefined };
}

/** One that is both counts as both. */
export function countRoles(nodes: ReadonlyMap<string, Announcement>) {
  const all = [...nodes.values()];
  return {
    fronts: all.filter(({ address }) => address !== undefined).length,
    workers: all.filter(({ instances }) => Object.keys(instances).length > 0).length,
  };
}
