/**
 * A node of a fleet: fronts take requests, workers transcribe, and Redis only decides who works next. Loaded only where
 * FLEET_URL is set. docs/more-than-one-machine.md has the picture.
 */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { TranscriptionEngine } from '../../engines/contract/index.ts';
import { createHttpClient } from '../../lib/http-client.ts';
import type { Clips } from '../clips/store.ts';
import type { ParentLogger } from '../engine-host/context.ts';
import type { JobStore } from '../jobs/store.ts';
import type { FleetSettings } from '../settings/fleet.ts';
import { SettingsError } from '../settings/load.ts';
import type { Workspace } from '../system/workspace.ts';
import { checkAddress, listenAddress } from './address.ts';
import { shareClips } from './clips.ts';
import { shareJobs } from './jobs.ts';
import { wrapAsRemote, runsOnWorkers } from './remote-engine.ts';
import { createFront } from './front.ts';
import { shareKeyLimits, type OwnCounters, type SharedCounters } from './key-limits.ts';
import { fleetTimeouts, type FleetTimeouts } from './timeouts.ts';
import { callsPath, listenForFleet } from './listener.ts';
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
  /** In seconds: for as long as a ticket is valid. */
  readonly transcribeTimeout: number;
  readonly log: ParentLogger;
  readonly limits?: Partial<FleetTimeouts> | undefined;
}

export type Fleet = Awaited<ReturnType<typeof openFleet>>;

/**
 * Throws a `SettingsError` for an address that recordings must not be sent to, a port that is taken, and a Redis that
 * evicts keys. Does not wait for a Redis that is not there.
 */
export async function openFleet(options: FleetOptions) {
  const { settings, transcribeTimeout, log: parent } = options;
  const { url, secret, prefix, role } = settings;
  const limits = { ...fleetTimeouts, ...options.limits };
  const isWorker = role !== 'front';
  const frontSettings = settings.role === 'worker' ? undefined : settings;
  const tag = randomUUID().slice(0, 8); // prefix of its ids of clips and jobs: callers must not see host names
  const id = `${hostname()}-${tag}`;
  const log = parent.child({ node: id });
  const stopping = new AbortController();
  const end = () => stopping.abort(new Error('the node stops'));
  let ownViaId = '';

  if (frontSettings) await checkAddress(frontSettings.address);
  const redis = openRedis({ url, prefix, limits, log, onReady: () => void refresh() });
  const hasOthers = (instance: string) => nodes.workersOf(instance).some((worker) => worker !== id);
  const consumers = createTicketConsumers({ redis, hasOthers, onChange: () => void refresh(), limits, log });
  let ownClips: Clips | undefined;
  let ownJobs: JobStore | undefined;
  const self = () => ({
    instances: consumers.capacities(),
    ...(frontSettings && { address: frontSettings.address, tags: [...new Set([tag, ...(ownJobs?.tags ?? [])])] }),
  });
  const nodes = createNodes({ id, self, secret, redis, limits, log });
  const queues = new Map<string, TicketQueue>();
  const admissions = createAdmissions({ redis, nodes, consumers, secret, limits });
  const queueOf = (instance: string): TicketQueue => {
    const queue = queues.get(instance) ?? redis.queue(queueName(instance));
    queues.set(instance, queue);
    return queue;
  };
  const front =
    frontSettings &&
    createFront({
      ...{ nodes, admissions, queueOf, limits, log },
      ticketFor(call, returnedBy) {
        // It outlives its call; the fleet port answers 410 then.
        const expires = Date.now() + (transcribeTimeout + 60) * 1000;
        return sealTicket(secret, `${frontSettings.address}${callsPath}${call}`, expires, returnedBy);
      },
      viaId: () => ownViaId,
    });
  const http = createHttpClient({}, limits.connectMs); // no proxy: fleet requests stay in the network
  const asking = {
    http,
    addressOf: (of: string) => nodes.addressOf(of),
    sign: (request: SignedRequest) => sign(secret, request, Date.now()),
  };

  const instances = new Set<string>();
  let keyLimits: SharedCounters | undefined;

  /** After every connection to Redis, which may have forgotten everything. */
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
      const own = { clips: () => ownClips, jobs: () => ownJobs };
      const serving = { address, verify: createVerifier(secret), find: front.find, ...own, limits, log };
      listener = await listenForFleet({ ...listenAddress(address, listen), ...serving });
    }
  } catch (error) {
    await close();
    throw error;
  }

  return {
    /** For the engine contexts: a worker takes as many tickets of an instance as its queue has slots. */
    noteQueue: consumers.noteQueue,
    /** For the registry: instances of the fleet are replaced by ones whose work is done by workers. */
    wrapAsRemote: async (instance: string, engine: TranscriptionEngine) => {
      if (!(await runsOnWorkers(instance, engine, settings.engines))) return engine;
      instances.add(instance);
      if (isWorker) consumers.add(instance, engine);
      return front ? wrapAsRemote(instance, engine, { front, nodes, admissions, limits, alsoHere: isWorker }) : engine;
    },
    /** Once the engines are open. */
    start({ workspace, viaId }: { readonly workspace: Workspace; readonly viaId: string }) {
      ownViaId = viaId;
      const { engineOf } = consumers;
      const working = { id, engineOf, workspace, secret, stopping: stopping.signal };
      if (isWorker) consumers.start(createCallRunner({ ...working, ...asking, limits, log }));
    },
    /** The limits of API keys over all fronts, from those of this front. Called once at most. */
    shareLimits(own: OwnCounters) {
      const { counters } = redis;
      const fronts = () => Math.max(1, countRoles(nodes.all()).fronts);
      keyLimits = shareKeyLimits({ own, counters, fronts, secret, limits, log });
      return keyLimits;
    },
    /** For metrics: asks Redis, for no longer than its timeout; never rejects. */
    state: () => readState({ redis, nodes, instances, front, consumers: isWorker ? consumers : undefined }),
    /** The start of the ids of this front's clips and jobs. */
    idPrefix: `${tag}.`,
    /** Makes this front's clips available to the other fronts, and theirs here. */
    shareClips(own: Clips) {
      ownClips = own;
      return shareClips(own, { tag, ...asking, limits });
    },
    /** The same for jobs. */
    shareJobs(own: JobStore) {
      ownJobs = own;
      const isOwn = (of: string) => own.tags.has(of);
      return shareJobs(own, { tag, isOwn, ...asking, limits });
    },
    /** For the readiness of this node: why it should be sent nothing; [] when it should. */
    notReady: () => (isWorker && nodes.trouble !== undefined ? [`fleet: ${nodes.trouble}`] : []),
    /** Takes no more tickets; resolves when those at work are done. */
    drain: () => consumers.drain(),
    /** Hands back what is at work, to be done by other workers. */
    end,
    [Symbol.asyncDispose]: close,
  };
}

/** With any other policy, Redis drops tickets when its memory is full. It may forbid the question, or not be there. */
async function requireNoEviction(redis: Redis): Promise<void> {
  const policy = await redis.evictionPolicy();
  if (policy === undefined || policy === 'noeviction') return;
  throw new SettingsError(`FLEET_URL: the maxmemory-policy of Redis is ${policy}; set it to noeviction`);
}
