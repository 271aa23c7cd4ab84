/** The address of a client behind reverse proxies. Only for callers: never for Host, Origin or scheme. */
import type { IncomingMessage } from 'node:http';
import { isIP, type Socket } from 'node:net';

/**
 * The entry of X-Forwarded-For that the outermost of so many proxies has added: each adds the address that it sees at the
 * right end, and everything left of their entries is what the client claims. Without a valid one, the peer's address.
 */
export function clientAddress(
  { headers, socket }: Pick<IncomingMessage, 'headers'> & { readonly socket: Pick<Socket, 'remoteAddress'> },
  proxies: number,
): string | undefined {
  const forwarded = headers['x-forwarded-for'];
  if (proxies === 0 || forwarded === undefined) return socket.remoteAddress;
  const entries = String(forwarded).split(',');
  const entry = withoutPort((entries.at(-Math.min(proxies, entries.length)) ?? '').trim());
  return isIP(entry) === 0 ? socket.remoteAddress : entry;
}

/** `192.0.2.1:4711` and `[2001:db8::1]:4711`, as some proxies write them. */
function withoutPort(entry: string): string {
  return entry.replace(/^\[(.+)\](?::\d+)?$/, '$1').replace(/^(\d+(?:\.\d+){3}):\d+$/, '$1');
}
