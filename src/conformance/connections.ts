/**
 * Records the connections of an engine. On the main thread, async hooks report every attempt, including failed ones.
 * Worker threads and child processes are sampled on Linux by polling their open sockets in /proc every 5 ms.
 */
import { createHook } from 'node:async_hooks';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { BlockList, isIP, isIPv6, SocketAddress } from 'node:net';
import { isLoopback } from '../../lib/loopback.ts';
import { ifReadable } from './processes.ts';

const pauseMs = 5;

/** The resource that Node.js creates for each attempt. Node.js sets its fields after `init`. */
interface Attempt {
  /** Set for connection attempts. */
  readonly address?: string;
  /** Set for DNS lookups. */
  readonly hostname?: string;
}
const attemptTypes = ['TCPCONNECTWRAP', 'GETADDRINFOREQWRAP', 'QUERYWRAP'];

/**
 * Resolves with the names and addresses of other machines that the work looks up or connects to, without duplicates.
 */
export async function connectionsDuring(
  work: () => Promise<void>,
  processes: () => readonly number[],
): Promise<string[]> {
  const attempts: Attempt[] = [];
  const hook = createHook({
    init: (_id, type, _trigger, resource) => {
      if (attemptTypes.includes(type)) attempts.push(resource);
    },
  });
  const open = new Set<string>();
  const poll = () =>
    processes()
      .flatMap(peersOf)
      .forEach((peer) => open.add(peer));
  poll();
  const timer = setInterval(poll, pauseMs);
  hook.enable();
  try {
    await work();
  } finally {
    hook.disable();
    clearInterval(timer);
  }
  const tried = attempts.flatMap(({ address, hostname }) => address ?? hostname ?? []);
  return [...new Set([...tried, ...open])].filter((host) => !isThisMachine(host));
}

const thisMachine = new BlockList();
thisMachine.addSubnet('127.0.0.0', 8);
thisMachine.addAddress('::1', 'ipv6');
/** Sockets that are not connected have these peer addresses. */
thisMachine.addAddress('0.0.0.0');
thisMachine.addAddress('::', 'ipv6');

function isThisMachine(host: string): boolean {
  return isIP(host) === 0 ? isLoopback(host) : thisMachine.check(host, isIPv6(host) ? 'ipv6' : 'ipv4');
}

/** Returns the peer addresses of the sockets of a process. */
function peersOf(pid: number): string[] {
  const sockets = socketsOf(pid);
  if (sockets.size === 0) return [];
  const tables = ['tcp', 'tcp6', 'udp', 'udp6'].map(
    (table) => ifReadable(() => readFileSync(`/proc/${pid}/net/${table}`, 'utf8')) ?? '',
  );
  const rows = tables.flatMap((table) => table.split('\n').map((row) => row.trim().split(/\s+/)));
  return rows.flatMap(([, , peer = '', , , , , , , socket = '']) => (sockets.has(socket) ? toAddress(peer) : []));
}

/** Returns the inodes of the sockets of a process. */
function socketsOf(pid: number): Set<string> {
  const folder = `/proc/${pid}/fd`;
  const links = (ifReadable(() => readdirSync(folder)) ?? []).map(
    (file) => ifReadable(() => readlinkSync(`${folder}/${file}`)) ?? '',
  );
  return new Set(links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []));
}

/** Parses a peer: little-endian 32-bit words in hexadecimal, then a colon and the port. */
function toAddress(peer: string): string {
  const [words = ''] = peer.split(':');
  const bytes = (words.match(/.{8}/g) ?? []).flatMap((word) => [...Buffer.from(word, 'hex').reverse()]);
  if (bytes.length === 4) return bytes.join('.');
  const groups = Buffer.from(bytes).toString('hex').match(/.{4}/g) ?? [];
  return new SocketAddress({ address: groups.join(':'), family: 'ipv6' }).address;
}
