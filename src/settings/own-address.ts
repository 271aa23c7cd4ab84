/** Whether a provider's URL leads back to this service, which would then ask itself without end. */
import { isLoopback, withoutBrackets } from '../../lib/loopback.ts';
import type { Settings } from './table.ts';

export type OwnAddress = Pick<Settings, 'host' | 'port'> & Partial<Pick<Settings, 'publicUrl'>>;

/** The settings that make the URL ours; undefined for any other URL, and for what is none. */
export function ownAddress(url: string, own: OwnAddress): 'HOST and PORT' | 'PUBLIC_URL' | undefined {
  const target = URL.parse(url);
  if (target === null) return undefined;
  if (isListener(target, own)) return 'HOST and PORT';
  return own.publicUrl !== undefined && isBelow(target, new URL(own.publicUrl)) ? 'PUBLIC_URL' : undefined;
}

/** With PORT 0 the port is not known yet: such a loop is found by its requests. */
function isListener({ protocol, port, hostname }: URL, own: OwnAddress): boolean {
  if (Number(port || (protocol === 'https:' ? 443 : 80)) !== own.port) return false;
  const listening = addressesOf(hostnameOf(own.host));
  const asked = addressesOf(hostname);
  if (isWildcard(own.host)) return asked.some(isLoopback);
  return asked.some((address) => listening.includes(address));
}

/** As URLs write it: lower case, IPv6 addresses in brackets and in their shortest form. */
function hostnameOf(host: string): string {
  const bare = withoutBrackets(host);
  return URL.parse(`http://${bare.includes(':') ? `[${bare}]` : bare}`)?.hostname ?? bare;
}

const wildcards = ['0.0.0.0', '[::]'];

function isWildcard(host: string): boolean {
  return wildcards.includes(hostnameOf(host));
}

/** A connection to a wildcard address is one to the loopback address. */
function addressesOf(name: string): readonly string[] {
  const host = name.replace(/\.$/, '');
  if (wildcards.includes(host) || /^(.+\.)?localhost$/.test(host)) return ['127.0.0.1', '[::1]'];
  return [host];
}

/** Only the paths of our APIs: below another path of the same host there may be another service. */
function isBelow(target: URL, root: URL): boolean {
  const prefix = root.pathname.replace(/\/$/, '');
  if (target.origin !== root.origin || !target.pathname.startsWith(prefix)) return false;
  return /^(\/|(\/api)?\/v1(\/.*)?)?$/.test(target.pathname.slice(prefix.length));
}
