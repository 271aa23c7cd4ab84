/** Detects provider URLs that point back to this service, which would call itself endlessly. */
import { isLoopback, withoutBrackets } from '../../lib/loopback.ts';
import type { Settings } from './table.ts';

export type OwnAddress = Pick<Settings, 'host' | 'port'> & Partial<Pick<Settings, 'publicUrl'>>;

/** Returns which settings make the URL an address of this service; undefined for other and invalid URLs. */
export function ownAddress(url: string, own: OwnAddress): 'HOST and PORT' | 'PUBLIC_URL' | undefined {
  const target = URL.parse(url);
  if (target === null) return undefined;
  if (isListener(target, own)) return 'HOST and PORT';
  return own.publicUrl !== undefined && isBelow(target, new URL(own.publicUrl)) ? 'PUBLIC_URL' : undefined;
}

/** With PORT 0, the port is not known yet. Such a loop is detected when its requests arrive. */
function isListener({ protocol, port, hostname }: URL, own: OwnAddress): boolean {
  if (Number(port || (protocol === 'https:' ? 443 : 80)) !== own.port) return false;
  const listening = addressesOf(hostnameOf(own.host));
  const asked = addressesOf(hostname);
  if (isWildcard(own.host)) return asked.some(isLoopback);
  return asked.some((address) => listening.includes(address));
}

/** Normalizes a host as URLs do: lower case, IPv6 addresses in brackets and in their shortest form. */
function hostnameOf(host: string): string {
  const bare = withoutBrackets(host);
  return URL.parse(`http://${bare.includes(':') ? `[${bare}]` : bare}`)?.hostname ?? bare;
}

const wildcards = ['0.0.0.0', '[::]'];

function isWildcard(host: string): boolean {
  return wildcards.includes(hostnameOf(host));
}

/** Resolves wildcard addresses and localhost to the loopback addresses, because connections to them reach loopback. */
function addressesOf(name: string): readonly string[] {
  const host = name.replace(/\.$/, '');
  if (wildcards.includes(host) || /^(.+\.)?localhost$/.test(host)) return ['127.0.0.1', '[::1]'];
  return [host];
}

/** Matches only the paths of the service's APIs, because another service may use another path of the same host. */
function isBelow(target: URL, root: URL): boolean {
  const prefix = root.pathname.replace(/\/$/, '');
  if (target.origin !== root.origin || !target.pathname.startsWith(prefix)) return false;
  return /^(\/|(\/api)?\/v1(\/.*)?)?$/.test(target.pathname.slice(prefix.length));
}
