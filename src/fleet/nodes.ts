/** The nodes of the fleet. Each node announces itself in Redis and keeps the announcements of the others in memory. */
import type { Logger } from '../../engines/contract/index.ts';
import { countOf, isObject, parseObject } from '../../lib/json.ts';
import { isEqual, macFor, version } from './ticket.ts';
import type { FleetTimeouts } from './timeouts.ts';
import { isReply, type Redis } from './redis.ts';

/** The announcement of a node. */
export interface Announcement {
  /** The instances whose tickets the node currently takes. */
  readonly instances: Readonly<Record<string, Capacity>>;
  /** FLEET_ADDRESS; absent if the node is not a front. */
  readonly address?: string | undefined;
  /** The tag of a front, and the tags of earlier processes whose jobs it owns; absent if the node is not a front. */
  readonly tags?: readonly string[] | undefined;
}

export interface Capacity {
  readonly slots: number;
  /** Mean duration of recent calls in milliseconds; 0 before the first. */
  readonly meanMs: number;
}

export interface NodesOptions {
  readonly id: string;
  readonly self: () => Announcement;
  /** FLEET_SECRET. */
  readonly secret: string;
  readonly redis: Pick<Redis, 'isReady' | 'announce' | 'announced' | 'withdraw'>;
  readonly timeouts: FleetTimeouts;
  readonly log: Logger;
}

const maxSlots = 10_000;

export type Nodes = ReturnType<typeof createNodes>;

export function createNodes({ id, self, secret, redis, timeouts, log }: NodesOptions) {
  let nodes: ReadonlyMap<string, Announcement> = new Map();
  /**
   * A clock in milliseconds that stops while Redis is unavailable or accepts no writes, because announcements then
   * expire.
   */
  let readMs = 0;
  let lastRead = performance.now();
  /** When a worker was last seen, by instance, on the clock of `readMs`. */
  const lastSeen = new Map<string, number>();
  /** Whether Redis accepts writes. A full Redis and a read-only replica still answer reads. */
  let accepts = true;
  let settlesAt = 0;

  async function announce(): Promise<void> {
    const facts = JSON.stringify(self());
    const mac = macOf(secret, id, facts);
    try {
      await redis.announce(id, JSON.stringify({ v: version, facts, mac }), timeouts.announcedMs);
    } catch (error) {
      if (!isReply(error)) throw error; // an outage is logged elsewhere
      if (accepts) log.error({ err: error }, 'Redis accepts no changes: it may be full, or a read-only replica');
      accepts = false;
      throw error;
    }
    if (accepts) return;
    log.info({}, 'Redis accepts changes again');
    accepts = true;
    settlesAt = performance.now() + timeouts.announceMs;
  }

  function trouble(): string | undefined {
    if (!redis.isReady) return 'Redis cannot be reached';
    return accepts ? undefined : 'Redis accepts no changes';
  }

  async function read(): Promise<void> {
    const announced = await redis.announced();
    nodes = nodesIn(announced, secret).nodes;
    const now = performance.now();
    if (accepts) readMs += Math.min(now - lastRead, 2 * timeouts.readNodesMs);
    lastRead = now;
    for (const { instances } of nodes.values()) for (const name of Object.keys(instances)) lastSeen.set(name, readMs);
  }

  let reading: Promise<void> | undefined;

  /** Concurrent requests share one read, because any caller may send an id with an unknown tag. */
  const readOnce = () => (reading ??= read().finally(() => (reading = undefined)));

  const knownAddress = (tag: string) => [...nodes.values()].find(({ tags }) => tags?.includes(tag))?.address;

  /** Failures are logged at debug level, because redis.ts logs outages. */
  const every = (ms: number, work: () => Promise<void>) =>
    setInterval(() => {
      if (redis.isReady)
        work().catch((error: unknown) => log.debug({ err: error }, 'the list of nodes could not be updated'));
    }, ms);

  const timers = [every(timeouts.announceMs, announce), every(timeouts.readNodesMs, read)];
  return {
    /** Announces this node and reads the announcements of the others. */
    async update() {
      await announce();
      await read();
    },
    /** The reason why this node cannot join the fleet, for the operator; undefined if it can. */
    get trouble() {
      return trouble();
    },
    /**
     * Whether the data of all nodes in Redis is current. After an outage, each node needs one interval to renew its
     * own.
     */
    get isSettled() {
      return trouble() === undefined && performance.now() >= settlesAt;
    },
    /** Returns the total capacity of the workers of an instance. `slots` is 0 without workers, and during an outage. */
    capacityOf: (instance: string) => capacityIn(trouble() === undefined ? nodes : new Map(), instance),
    /** Returns the ids of the workers of an instance, including paused ones. */
    workersOf: (instance: string) =>
      [...nodes].flatMap(([node, { instances }]) => (Object.hasOwn(instances, instance) ? [node] : [])),
    /**
     * Returns the milliseconds since a worker of the instance was last seen, counted only while Redis accepts
     * announcements.
     */
    absentMs: (instance: string) => readMs - (lastSeen.get(instance) ?? 0),
    /**
     * Resolves with the address of the front with this tag, or with undefined if no front has it. Reads the list again
     * for an unknown tag, which may belong to a new front; rejects if that fails.
     */
    async addressOf(tag: string) {
      if (knownAddress(tag) === undefined) await readOnce();
      return knownAddress(tag);
    },
    /** All nodes, by id. */
    all: () => nodes,
    async [Symbol.asyncDispose]() {
      timers.forEach(clearInterval);
      if (redis.isReady) await redis.withdraw(id).catch(() => undefined); // the announcement expires by itself
    },
  };
}

/** Returns the total capacity of the workers of an instance. */
export function capacityIn(nodes: ReadonlyMap<string, Announcement>, instance: string): Capacity {
  const capacities = [...nodes.values()].flatMap(({ instances }) => instances[instance] ?? []);
  const known = capacities.filter(({ meanMs }) => meanMs > 0);
  return {
    slots: capacities.reduce((sum, { slots }) => sum + slots, 0),
    meanMs: known.reduce((sum, { meanMs }) => sum + meanMs, 0) / (known.length || 1),
  };
}

/**
 * Parses the announcements of nodes with this protocol version, by id. `foreign` counts those signed with another
 * secret: Redis is not trusted, and a worker with the wrong secret takes no calls.
 */
export function nodesIn(announced: ReadonlyMap<string, string>, secret: string) {
  const nodes = new Map<string, Announcement>();
  let foreign = 0;
  for (const [node, text] of announced) {
    const { v, facts, mac } = parseObject(text) ?? {};
    if (v !== version || typeof facts !== 'string' || typeof mac !== 'string') continue;
    if (isEqual(mac, macOf(secret, node, facts))) nodes.set(node, parse(facts));
    else foreign += 1;
  }
  return { nodes, foreign } as const;
}

function parse(facts: string): Announcement {
  const { instances, address, tags } = parseObject(facts) ?? {};
  const capacities = Object.entries(isObject(instances) ? instances : {}).map(([name, value]) => {
    const { slots, meanMs } = isObject(value) ? value : {};
    return [name, { slots: Math.min(maxSlots, countOf(slots) ?? 0), meanMs: countOf(meanMs) ?? 0 }] as const;
  });
  const isFront = typeof address === 'string';
  return {
    instances: Object.fromEntries(capacities),
    ...(isFront && { address, tags: Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string') : [] }),
  };
}

function macOf(secret: string, node: string, facts: string): string {
  return macFor(secret, ['node', node, facts]);
}
