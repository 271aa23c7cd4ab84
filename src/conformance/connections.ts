/**
 * Who an engine connects to while it works. Node.js tells of every attempt of this process's main thread, also of one
 * that fails; of its worker threads and of programs, Linux tells what is open when it is looked at, some hundred times
 * a second.
 */
import { createHook } from 'node:async_hooks';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { BlockList, isIP, isIPv6, SocketAddress } from 'node:net';
import { isLoopback } from '../../lib/loopback.ts';
import { told } from './processes.ts';

const pauseMs = 5;

/** What Node.js makes for each attempt. It is filled in once it is made. */
interface Attempt {
  /** Of a connection. */
  readonly address?: string;
  /** Of a question for the address of a name. */
  readonly hostname?: string;
}
const attemptTypes = ['TCPCONNECTWRAP', 'GETADDRINFOREQWRAP', 'QUERYWRAP'];

/** Names and addresses beyond this machine that the work asks for or is connected to, each once. */
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
  const look = () =>
    processes()
      .flatMap(peersOf)
      .forEach((peer) => open.add(peer));
  look();
  const looking = setInterval(look, pauseMs);
  hook.enable();
  try {
    await work();
  } finally {
    hook.disable();
    clearInterval(looking);
  }
  const tried = attempts.flatMap(({ address, hostname }) => address ?? hostname ?? []);
  return [...new Set([...tried, ...open])].filter((host) => !isHere(host));
}

const here = new BlockList();
here.addSubnet('127.0.0.0', 8);
here.addAddress('::1', 'ipv6');
/** Of a socket that is connected to nobody. */
here.addAddress('0.0.0.0');
here.addAddress('::', 'ipv6');

function isHere(host: string): boolean {
  return isIP(host) === 0 ? isLoopback(host) : here.check(host, isIPv6(host) ? 'ipv6' : 'ipv4');
}

/** The addresses that the sockets of a process are connected to. */
function peersOf(pid: number): string[] {
  const sockets = socketsOf(pid);
  if (sockets.size === 0) return [];
  const tables = ['tcp', 'tcp6', 'udp', 'udp6'].map(
    (table) => told(() => readFileSync(`/proc/${pid}/net/${table}`, 'utf8')) ?? '',
  );
  const rows = tables.flatMap((table) => table.split('\n').map((row) => row.trim().split(/\s+/)));
  return rows.flatMap(([, , peer = '', , , , , , , socket = '']) => (sockets.has(socket) ? toAddress(peer) : []));
}

/** By the numbers that the tables have in their tenth column. */
function socketsOf(pid: number): Set<string> {
  const folder = `/proc/${pid}/fd`;
  const links = (told(() => readdirSync(folder)) ?? []).map(
    (file) => told(() => readlinkSync(`${folder}/${file}`)) ?? '',
  );
  return new Set(links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []));
}

/** Hexadecimal words of 32 bits, the last byte first; behind them a colon and the port. */
function toAddress(peer: string): string {
  const [words = ''] = peer.split(':');
  const bytes = (words.match(/.{8}/g) ?? []).flatMap((word) => [...Buffer.from(word, 'hex').reverse()]);
  if (bytes.length === 4) return bytes.join('.');
  const groups = Buffer.from(bytes).toString('hex').match(/.{4}/g) ?? [];
  return new SocketAddress({ address: groups.join(':'), family: 'ipv6' }).address;
}
