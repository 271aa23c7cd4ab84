/** Findings of `npm run doctor` about a fleet. The inspected node does not join the fleet. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Finding, Logger } from '../../engines/contract/index.ts';
import type { FleetSettings, FrontSettings } from '../settings/fleet.ts';
import { SettingsError } from '../settings/load.ts';
import { checkAddress, listenAddress } from './address.ts';
import type { Instance } from '../engine-host/models/instance.ts';
import type { RemoteEngine } from '../engine-host/registry/open-instance.ts';
import { wrapAsRemote, runsOnWorkers } from './remote-engine.ts';
import { fleetTimeouts } from './timeouts.ts';
import { capacityIn, nodesIn, type Announcement } from './nodes.ts';
import { openRedis, type ServerFacts } from './redis.ts';

export interface FleetFinding extends Finding {
  /** True if this node is healthy, but another node is missing. */
  readonly isOptional?: boolean;
}

export interface FleetInspection {
  readonly findings: readonly FleetFinding[];
  /** For the registry of a front that is not a worker: the workers decide which models are available. */
  readonly wrapAsRemote?: (instance: Instance<'transcription'>) => RemoteEngine | undefined;
}

type Nodes = ReadonlyMap<string, Announcement>;

/**
 * Half of the allowed difference: two nodes that are off by this much in opposite directions still accept each other.
 */
const maxSkewMs = 60_000;

/** Takes a few seconds when Redis is unavailable. */
export async function inspectFleet(settings: FleetSettings): Promise<FleetInspection> {
  const { url, prefix, secret, engines } = settings;
  const failures: string[] = [];
  const nothing = () => {};
  const note = ({ err }: { readonly err?: Error }) => failures.push(err?.message ?? 'it closes the connection');
  const log = { debug: nothing, info: nothing, warn: nothing, error: note } as Logger;

  await using redis = openRedis({ url, prefix, timeouts: fleetTimeouts, log, onReady: nothing });
  const facts = await redis.inspect().catch(() => failures[0] ?? 'it does not answer');
  const announced = await redis.announced().catch(() => new Map<string, string>()); // already reported
  const { nodes, foreign } = nodesIn(announced, secret);
  const { protocol, host } = new URL(url); // omits the password
  const where = `${protocol}//${host}`;
  return {
    findings: [
      ...(typeof facts === 'string'
        ? [unreachable(where, facts)]
        : [...checkServer(where, facts), ...listNodes(nodes)]),
      ...(foreign > 0 ? [otherSecret(foreign)] : []),
      ...(settings.role === 'worker' ? [] : await checkOwnAddress(settings, nodes)),
    ],
    ...(settings.role === 'front' && {
      wrapAsRemote: (instance) => (runsOnWorkers(instance, engines) ? asListed(instance, nodes) : undefined),
    }),
  };
}

function unreachable(where: string, why: string): FleetFinding {
  const start = 'start Redis or Valkey there, or correct FLEET_URL';
  // A Redis in protected mode accepts the connection, sends -DENIED and closes it; the error of ioredis depends on
  // timing.
  const isClosed = /EPIPE|ECONNRESET|closes the connection/.test(why);
  const fix = isClosed ? 'it may be in protected mode: give it a password, or set protected-mode no' : start;
  return { what: 'Redis', ok: false, detail: `${where} cannot be reached: ${why}`, fix };
}

/** Exported for the tests. */
export function checkServer(where: string, { version, evictionPolicy, aheadMs }: ServerFacts): FleetFinding[] {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isNew = major > 6 || (major === 6 && minor >= 2);
  const policy = evictionPolicy ?? 'hidden by this Redis; it must be noeviction';
  const isKeeping = evictionPolicy === undefined || evictionPolicy === 'noeviction';
  const skew = `${(Math.abs(aheadMs) / 1000).toFixed(1)} s ${aheadMs < 0 ? 'ahead of' : 'behind'} that of Redis`;
  const isSkewed = Math.abs(aheadMs) > maxSkewMs;
  return [
    {
      ...{ what: 'Redis', ok: isNew, detail: `${where}, version ${version}` },
      ...(!isNew && { fix: 'update Redis to 6.2 or newer, or use Valkey' }),
    },
    {
      ...{ what: 'eviction', ok: isKeeping, detail: `maxmemory-policy: ${policy}` },
      ...(!isKeeping && { fix: 'set maxmemory-policy to noeviction in redis.conf' }),
    },
    {
      ...{ what: 'clock', ok: !isSkewed, detail: skew },
      ...(isSkewed && { fix: 'synchronize the clocks of all nodes (NTP)' }),
    },
  ];
}

function listNodes(nodes: Nodes): FleetFinding[] {
  const fronts: FleetFinding[] = [];
  const workers: FleetFinding[] = [];
  for (const [id, { address, instances }] of nodes) {
    const slots = Object.entries(instances).map(([name, { slots }]) => `${name} (${slots} slots)`);
    if (address !== undefined) fronts.push({ what: 'front', ok: true, detail: `${id}, ${address}` });
    if (slots.length > 0) workers.push({ what: 'worker', ok: true, detail: `${id}, ${slots.join(', ')}` });
  }
  return [...(fronts.length > 0 ? fronts : [noneOf('front')]), ...(workers.length > 0 ? workers : [noneOf('worker')])];
}

function noneOf(role: 'front' | 'worker'): FleetFinding {
  const fix = `start a node with FLEET_ROLE=${role} or both`;
  return { what: role, ok: false, detail: 'none is connected', fix, isOptional: true };
}

function otherSecret(count: number): FleetFinding {
  const fix = 'set the same FLEET_SECRET on all nodes';
  return { what: 'secret', ok: false, detail: `${count} other nodes use a different secret and are not listed`, fix };
}

async function checkOwnAddress({ address, listen }: FrontSettings, nodes: Nodes): Promise<FleetFinding[]> {
  try {
    await checkAddress(address);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return [{ what: 'address', ok: false, detail: error.message }];
  }
  const isHttps = address.startsWith('https:');
  const detail = `${address} (${isHttps ? 'https' : 'http in a private network'})`;
  return [{ what: 'address', ok: true, detail }, await checkPort(listenAddress(address, listen), address, nodes)];
}

async function checkPort(
  { host, port }: { readonly host: string; readonly port: number },
  address: string,
  nodes: Nodes,
): Promise<FleetFinding> {
  const what = 'fleet port';
  const where = `${host}:${port}`;
  const server = createServer();
  try {
    server.listen(port, host);
    await once(server, 'listening');
    return { what, ok: true, detail: `${where} can be listened on` };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const [user] = [...nodes].find(([, node]) => node.address === address) ?? [];
    if (code === 'EADDRINUSE' && user !== undefined) return { what, ok: true, detail: `${where}, used by ${user}` };
    const fix = 'set FLEET_LISTEN to an address of this machine and a free port';
    return { what, ok: false, detail: `cannot listen on ${where}: ${message}`, fix };
  } finally {
    server.close();
  }
}

/** Returns the instance as requests see it: available if a worker is connected. */
function asListed(instance: Instance<'transcription'>, all: Nodes): RemoteEngine {
  return wrapAsRemote(instance, {
    front: { transcribe: () => Promise.reject(new Error('the doctor transcribes nothing')) },
    nodes: { capacityOf: (name) => capacityIn(all, name), absentMs: () => Infinity, all: () => all },
    timeouts: fleetTimeouts,
    admissions: { isFull: () => false },
    alsoHere: false,
  });
}
