/**
 * A node of a fleet: fronts take requests, workers transcribe, and Redis only decides who works next. Loaded only where
 * FLEET_URL is set. docs/more-than-one-machine.md has the picture.
 */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { QueueOptions, TranscriptionEngine } from '../../engines/contract/index.ts';
import { createHttpClient } from '../../lib/http-client.ts';
import { ProblemError } from '../contract/problems.ts';
import type { ParentLogger } from '../engine-host/context.ts';
import { SettingsError, type LoadedSettings } from '../settings/load.ts';
import type { Workspace } from '../system/workspace.ts';
import { checkAddress, listenAddress } from './address.ts';
import { createCapacity } from './capacity.ts';
import { runElsewhere } from './elsewhere.ts';
import { createFront, type Front } from './front.ts';
import { fleetLimits, type FleetLimits } from './limits.ts';
import { callsPath, listenForFleet } from './listener.ts';
import { createNodes } from './nodes.ts';
import { openRedis, type Redis, type TicketQueue } from './redis.ts';
import { createVerifier, sign } from './signature.ts';
import { openTicket, queueName, sealTicket } from './ticket.ts';
import { createWorker } from './worker.ts';

export interface Fleet extends AsyncDisposable {
  /** For the registry: the instances of the fleet are replaced by those that run on workers. */
  readonly elsewhere: (instance: string, engine: TranscriptionEngine) => Promise<TranscriptionEngine>;
  /** For the engine contexts: the slots of an instance are as many tickets as it takes at a time. */
  readonly noteQueue: (instance: string, options: QueueOptions) => void;
  /** Once the engines are open: workers take tickets from now on. */
  readonly start: (node: { readonly workspace: Workspace; readonly viaId: string }) => Promise<void>;
  /** Why this node should be sent nothing, for its readiness; [] when there is no reason. */
  readonly notReady: () => readonly string[];
  /** Takes no more tickets; resolves when those at work are done. */
  drain(): Promise<void>;
  /** Hands back what is at work. */
  readonly end: () => void;
}

export interface FleetOptions {
  readonly settings: LoadedSettings;
  readonly log: ParentLogger;
  readonly limits?: Partial<FleetLimits> | undefined;
}

/**
 * Throws a `SettingsError` for an address that recordings must not be sent to, a port that is taken, and a Redis that
 * evicts keys. Does not wait for a Redis that is not there.
 */
export async function openFleet({ settings, log: parent, limits: given }: FleetOptions): Promise<Fleet> {
  const { fleetUrl = '', fleetSecret: secret = '', fleetAddress, fleetListen, fleetRole, fleetPrefix: prefix } = settings;
  const limits = { ...fleetLimits, ...given };
  const isFront = fleetRole !== 'worker';
  const id = `${hostname()}-${randomUUID().slice(0, 8)}`;
  const log = parent.child({ node: id });
  if (isFront && fleetAddress !== undefined) await checkAddress(fleetAddress);

  const stack = new AsyncDisposableStack();
  const stopping = new AbortController();
  const http = stack.use(createHttpClient({}, { connectMs: limits.connectMs })); // never through a proxy
  const redis = stack.use(openRedis({ url: fleetUrl, prefix, limits, log, onReady: () => void refresh() }));
  const capacity = createCapacity({ redis });
  const nodes = stack.use(
  );
}
