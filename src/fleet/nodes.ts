/** The nodes of the fleet: each announces itself in Redis, and fronts keep what they read in memory. */
import type { Logger } from '../../engines/contract/index.ts';
import { countOf, isObject, parseObject } from '../../lib/json.ts';
import { isEqual, macFor, version } from './ticket.ts';
import type { FleetTimeouts } from './timeouts.ts';
import { isReply, type Redis } from './redis.ts';

/** The announcement of a node. */
export interface Announcement {
  /** The instances that the node works for now. */
  readonly instances: Readonly<Record<string, Capacity>>;
  /** FLEET_ADDRESS; absent where the node is no front. */
  readonly address?: string | undefined;
  /** The tag of a front, and those of earlier processes whose jobs it has. */
  readonly tags?: readonly string[] | undefined;
}

export interface Capacity {
  readonly slots: number;
  /** Mean duration of the last jobs in milliseconds; 0 before the first. */
  readonly meanMs: number;
}

export interface NodesOptions {
  readonly id: string;
  readonly self: () => Announcement;
  /** FLEET_SECRET. */
  readonly secret: string;
  readonly redis: Pick<Redis, 'isReady' | 'announce' | 'announced' | 'withdraw'>;
  readonly limits: FleetTimeouts;
  readonly log: Logger;
}

const mostSlots = 10_000;

export type Nodes = ReturnType<typeof createNodes>;

export function createNodes({ id, self, secret, redis, limits, log }: NodesOptions) {
  let nodes: ReadonlyMap<string, Announcement> = new Map();
  /** A clock that stands still while Redis is unavailable or accepts no announcements: they expire then. */
  let readMs = 0;
  let lastRead = performance.now();
  /** By instance, on that clock. */
  const lastSeen = new Map<string, number>();
  /** A Redis whose memory is full, or a read-only replica, answers all that is read. */
  let accepts = true;
  let settlesAt = 0;

  async function announce(): Promise<void> {
    const facts = JSON.stringify(self());
    const mac = macOf(secret, id, facts);
    try {
      await redis.announce(id, JSON.stringify({ v: version, facts, mac }), limits.announcedMs);
    } catch (error) {
      if (!isReply(error)) throw error; // an outage is logged elsewhere
      if (accepts) log.error({ err: error }, 'Redis accepts no changes: it may be full, or a read-only replica');
      accepts = false;
      throw error;
    }
    if (accepts) return;
    log.info({}, 'Redis accepts changes again');
    accepts = true;
    settlesAt = performance.now() + limits.announceMs;
  }

  function trouble(): string | undefined {
    if (!redis.isReady) return 'Redis cannot be reached';
    return accepts ? undefined : 'Redis accepts no changes';
  }

  async function read(): Promise<void> {
    const announced = await redis.announced();
    nodes = nodesIn(announced, secret).nodes;
    const now = performance.now();
    if (accepts) readMs += Math.min(now - lastRead, 2 * limits.readNodesMs);
    lastRead = now;
    for (const { instances } of nodes.values()) for (const name of Object.keys(instances)) lastSeen.set(name, readMs);
  }

  let reading: Promise<void> | undefined;

  /** Any caller may name a node that does not exist. */
  const readOnce = () => (reading ??= read().finally(() => (reading = undefined)));

  const knownAddress = (tag: string) => [...nodes.values()].find(({ tags }) => tags?.includes(tag))?.address;

  /** Outages are logged once, elsewhere. */
  const every = (ms: number, work: () => Promise<void>) =>
    setInterval(() => {
      if (redis.isReady) work().catch((error: unknown) => log.debug({ err: error }, 'the list of nodes failed'));
    }, ms);

  const timers = [every(limits.announceMs, announce), every(limits.readNodesMs, read)];
  return {
    /** Announces this node now, and reads the others. */
    async update() {
      await announce();
      await read();
    },
    /** Why this node cannot take part, for the operator; undefined when it can. */
    get trouble() {
      return trouble();
    },
    /** Whether what Redis holds of all nodes can be relied on: after a trouble each needs a moment to renew it. */
    get isSettled() {
      return trouble() === undefined && performance.now() >= settlesAt;
    },
    /** All workers of an instance together. `slots` is 0 when there is none, and while there is trouble. */
    capacityOf: (instance: string) => capacityIn(trouble() === undefined ? nodes : new Map(), instance),
    /** Ids of the workers of an instance, also of those that take no tickets for a while. */
    workersOf: (instance: string) =>
      [...nodes].flatMap(([node, { instances }]) => (Object.hasOwn(instances, instance) ? [node] : [])),
    /** Milliseconds since a worker of the instance was last seen; counts only while Redis accepts announcements. */
    absentMs: (instance: string) => readMs - (lastSeen.get(instance) ?? 0),
    /**
     * The address of the front with the tag; reads the list again when there is none, for it may be new. Rejects when
     * Redis cannot be asked then.
     */
    async addressOf(tag: string) {
      if (knownAddress(tag) === undefined) await readOnce();
      return knownAddress(tag);
    },
    /** By id. */
    all: () => nodes,
    async [Symbol.asyncDispose]() {
      timers.forEach(clearInterval);
      if (redis.isReady) await redis.withdraw(id).catch(() => undefined); // it expires by itself
    },
  };
}

/** All workers of an instance together. */
export function capacityIn(nodes: ReadonlyMap<string, Announcement>, instance: string): Capacity {
  const capacities = [...nodes.values()].flatMap(({ instances }) => instances[instance] ?? []);
  const known = capacities.filter(({ meanMs }) => meanMs > 0);
  return {
    slots: capacities.reduce((sum, { slots }) => sum + slots, 0),
    meanMs: known.reduce((sum, { meanMs }) => sum + meanMs, 0) / (known.length || 1),
  };
}

/**
 * Those of this version of the protocol, by id. `foreign` counts those that another secret has signed: Redis is not
 * trusted, and a worker with a wrong secret would take nothing.
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
    return [name, { slots: Math.min(mostSlots, countOf(slots) ?? 0), meanMs: countOf(meanMs) ?? 0 }] as const;
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
