/**
 * A node of a fleet: fronts accept requests, workers transcribe, and Redis orders the waiting calls. Loaded only if
 * FLEET_URL is set. docs/more-than-one-machine.md has a diagram.
 */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { createHttpClient } from '../../lib/http-client.ts';
import type { ParentLogger } from '../engine-host/context.ts';
import type { Instance } from '../engine-host/models/instance.ts';
import type { FleetSettings } from '../settings/fleet.ts';
import { SettingsError } from '../settings/load.ts';
import type { Workspace } from '../system/workspace.ts';
import { checkAddress, listenAddress } from './address.ts';
import { createForward } from './forward.ts';
import { wrapAsRemote, runsOnWorkers } from './remote-engine.ts';
import { createFront } from './front.ts';
import { shareKeyLimits, type OwnCounters, type SharedCounters } from './key-limits.ts';
import { fleetTimeouts, type FleetTimeouts } from './timeouts.ts';
import { callsPath, listenForFleet, type ServeForwarded } from './listener.ts';
import { createNodes } from './nodes.ts';
import { openRedis, type Redis, type TicketQueue } from './redis.ts';
import { createAdmissions } from './admission.ts';
import { createVerifier, sign, type SignedRequest } from './signature.ts';
import { countRoles, readState } from './state.ts';
import { createTicketConsumers } from './ticket-consumers.ts';
import { queueName, sealTicket } from './ticket.ts';
import { createCallRunner } from './call-runner.ts';

export interface FleetOptions {
  readonly settings: FleetSettings;
  /** Timeout of a transcription in seconds. Tickets stay valid a minute longer. */
  readonly transcribeTimeout: number;
  readonly log: ParentLogger;
  readonly timeouts?: Partial<FleetTimeouts> | undefined;
}

/** The clips and jobs of this front. */
export interface OwnThings {
  readonly serve: ServeForwarded;
  /** `tags`: prefixes of the ids of its jobs, some from earlier processes. */
  readonly jobs: { readonly tags: ReadonlySet<string> };
}

export type Fleet = Awaited<ReturnType<typeof openFleet>>;

/**
 * Throws a `SettingsError` for a plain http address that is not private, a port in use, or a Redis that evicts keys.
 * Succeeds even if Redis is unreachable.
 */
export async function openFleet(options: FleetOptions) {
  const { settings, transcribeTimeout, log: parent } = options;
  const { url, secret, prefix, role } = settings;
  const timeouts = { ...fleetTimeouts, ...options.timeouts };
  const isWorker = role !== 'front';
  const frontSettings = settings.role === 'worker' ? undefined : settings;
  const tag = randomUUID().slice(0, 8); // prefix of clip and job ids: callers must not see host names
  const id = `${hostname()}-${tag}`;
  const log = parent.child({ node: id });
  const stopping = new AbortController();
  const end = () => stopping.abort(new Error('the node stops'));
  let ownViaId = '';

  if (frontSettings) await checkAddress(frontSettings.address);
  const redis = openRedis({ url, prefix, timeouts, log, onReady: () => void refresh() });
  const hasOthers = (instance: string) => nodes.workersOf(instance).some((worker) => worker !== id);
  const consumers = createTicketConsumers({ redis, hasOthers, onChange: () => void refresh(), timeouts, log });
  let owned: OwnThings | undefined;
  const self = () => ({
    instances: consumers.capacities(),
    ...(frontSettings && { address: frontSettings.address, tags: [...new Set([tag, ...(owned?.jobs.tags ?? [])])] }),
  });
  const nodes = createNodes({ id, self, secret, redis, timeouts, log });
  const queues = new Map<string, TicketQueue>();
  const admissions = createAdmissions({ redis, nodes, consumers, secret, timeouts });
  const queueOf = (instance: string): TicketQueue => {
    const queue = queues.get(instance) ?? redis.queue(queueName(instance));
    queues.set(instance, queue);
    return queue;
  };
  const front =
    frontSettings &&
    createFront({
      ...{ nodes, admissions, queueOf, timeouts, log },
      ticketFor(call, returnedBy) {
        // A ticket may outlive its call; the fleet port then answers 410.
        const expires = Date.now() + (transcribeTimeout + 60) * 1000;
        return sealTicket(secret, `${frontSettings.address}${callsPath}${call}`, expires, returnedBy);
      },
      viaId: () => ownViaId,
    });
  const http = createHttpClient({}, timeouts.connectMs); // no proxy: fleet requests stay in the network
  const peers = { http, sign: (request: SignedRequest) => sign(secret, request, Date.now()), timeouts };

  const instances = new Set<string>();
  let keyLimits: SharedCounters | undefined;

  /** Restores the state of this node after each connection to Redis, which may have lost everything. */
  async function refresh(): Promise<void> {
    admissions.keep();
    await nodes.update().catch((error: unknown) => log.debug({ err: error }, 'the node could not be announced'));
    await front?.reconcile();
  }

  async function close(): Promise<void> {
    end();
    await consumers.drain();
    front?.[Symbol.dispose]();
    admissions[Symbol.dispose]();
    keyLimits?.[Symbol.dispose]();
    await listener?.[Symbol.asyncDispose]();
    await nodes[Symbol.asyncDispose]();
    await redis[Symbol.asyncDispose]();
    await http[Symbol.asyncDispose]();
  }

  let listener: AsyncDisposable | undefined;
  try {
    await requireNoEviction(redis);
    if (front) {
      const { address, listen } = frontSettings;
      const serve = () => owned?.serve;
      const serving = { address, verify: createVerifier(secret), find: front.find, serve, timeouts, log };
      listener = await listenForFleet({ ...listenAddress(address, listen), ...serving });
    }
  } catch (error) {
    await close();
    throw error;
  }

  return {
    /** Called by the engine contexts: a worker takes as many tickets for an instance as its queue has slots. */
    registerQueue: consumers.registerQueue,
    /** Called by the registry: replaces an instance of the fleet with one that delegates to workers. */
    wrapAsRemote: (instance: Instance<'transcription'>) => {
      if (!runsOnWorkers(instance, settings.engines)) return undefined;
      instances.add(instance.name);
      if (isWorker) consumers.add(instance);
      return front && wrapAsRemote(instance, { front, nodes, admissions, timeouts, alsoHere: isWorker });
    },
    /** Starts taking tickets. Call this after the engines have been opened. */
    start({ workspace, viaId }: { readonly workspace: Workspace; readonly viaId: string }) {
      ownViaId = viaId;
      const { engineOf } = consumers;
      const working = { id, engineOf, workspace, secret, stopping: stopping.signal };
      if (isWorker) consumers.start(createCallRunner({ ...working, ...peers, log }));
    },
    /** Returns the API key limits across all fronts, based on the counters of this front. Called at most once. */
    shareLimits(own: OwnCounters) {
      const { counters } = redis;
      const fronts = () => Math.max(1, countRoles(nodes.all()).fronts);
      keyLimits = shareKeyLimits({ own, counters, fronts, secret, timeouts, log });
      return keyLimits;
    },
    /** Keeps the client secrets of all fronts. */
    clientSecrets: redis.openSecrets(secret),
    /** Reads the state for the metrics, within the timeout of Redis; never rejects. */
    state: () => readState({ redis, nodes, instances, front, consumers: isWorker ? consumers : undefined }),
    /** Prefix of the ids of this front's clips and jobs. */
    idPrefix: `${tag}.`,
    /** Forwards requests for clips and jobs of other fronts to their owners. */
    forward: createForward({
      isOwn: (of) => of === tag || owned?.jobs.tags.has(of) === true,
      addressOf: (of) => nodes.addressOf(of),
      ...peers,
    }),
    /** Interval of the heartbeats that `serve` must send on event streams. */
    heartbeatMs: timeouts.heartbeatMs,
    /** Sets what answers the requests that other fronts forward to this one. Called at most once. */
    serve: (things: OwnThings) => void (owned = things),
    /** Returns the reasons why this node is not ready; empty when it is. */
    notReady: () => (isWorker && nodes.trouble !== undefined ? [`fleet: ${nodes.trouble}`] : []),
    /** Stops taking tickets; resolves when the calls in progress are done. */
    drain: () => consumers.drain(),
    /** Returns the calls in progress to their fronts, which queue them for other workers. */
    end,
    [Symbol.asyncDispose]: close,
  };
}

/**
 * With any policy other than `noeviction`, Redis drops tickets when its memory is full. Skipped if Redis is unreachable
 * or hides its policy.
 */
async function requireNoEviction(redis: Redis): Promise<void> {
  const policy = await redis.evictionPolicy();
  if (policy === undefined || policy === 'noeviction') return;
  throw new SettingsError(`FLEET_URL: the maxmemory-policy of Redis is ${policy}; set it to noeviction`);
}
