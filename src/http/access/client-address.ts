/** The address of a client behind reverse proxies. Identifies callers only; never used for Host, Origin or scheme. */
import type { IncomingMessage } from 'node:http';
import { isIP, type Socket } from 'node:net';

/**
 * Returns the entry of X-Forwarded-For that the outermost of `proxies` trusted proxies appended. Everything to the left
 * of their entries is claimed by the client. Falls back to the peer's address if the entry is not a valid address.
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

/** Removes the port that some proxies add, as in `192.0.2.1:4711` and `[2001:db8::1]:4711`. */
function withoutPort(entry: string): string {
  return entry.replace(/^\[(.+)\](?::\d+)?$/, '$1').replace(/^(\d+(?:\.\d+){3}):\d+$/, '$1');
}
