/**
 * Checks FLEET_ADDRESS and FLEET_LISTEN. Workers fetch recordings from FLEET_ADDRESS, so plain http requires a private
 * network.
 */
import { lookup } from 'node:dns/promises';
import { BlockList } from 'node:net';
import { withoutBrackets } from '../../lib/loopback.ts';
import { SettingsError } from '../settings/load.ts';
import { messageOf } from '../../lib/errors.ts';

const privateNetworks = new BlockList();
for (const [network, bits] of [
  ['127.0.0.0', 8],
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['169.254.0.0', 16],
  ['100.64.0.0', 10], // overlay networks
  ['::1', 128],
  ['fc00::', 7],
  ['fe80::', 10],
] as const)
  privateNetworks.addSubnet(network, bits, network.includes(':') ? 'ipv6' : 'ipv4');

/** Throws a `SettingsError` for plain http to a public address. Host names are resolved first. */
export async function checkAddress(address: string): Promise<void> {
  const { protocol, hostname } = new URL(address);
  if (protocol === 'https:') return;
  const host = withoutBrackets(hostname);
  const found = await lookup(host, { all: true }).catch((cause: unknown) => {
    throw new SettingsError(`FLEET_ADDRESS: ${host} cannot be resolved: ${messageOf(cause)}`, { cause });
  });
  const open = found.find(({ address, family }) => !privateNetworks.check(address, family === 6 ? 'ipv6' : 'ipv4'));
  if (open === undefined) return;
  const why = `recordings would cross the network in clear text (${open.address} is not a private address)`;
  throw new SettingsError(`FLEET_ADDRESS: ${why}; use https with a TLS proxy in front of FLEET_LISTEN, or a VPN`);
}

/** Returns the host and port of FLEET_LISTEN, or those of FLEET_ADDRESS if FLEET_LISTEN is not set. */
export function listenAddress(address: string, listen: string | undefined): { host: string; port: number } {
  const { hostname, port, protocol } = new URL(listen === undefined ? address : `http://${listen}`);
  const fallback = listen === undefined && protocol === 'https:' ? 443 : 80;
  return { host: withoutBrackets(hostname), port: port === '' ? fallback : Number(port) };
}
