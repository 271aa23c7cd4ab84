/**
 * Who a request belongs to: the name of its key, in open mode its address. The line in front of an engine, the budgets
 * and the clips all share by this one notion, so that no caller can take what belongs to others.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { isIPv6 } from 'node:net';

/** What everything that runs for a request can look up, however deep it is called. */
export interface RequestScope {
  /** Set once the request is authenticated. */
  caller: string;
}

/** Work that no request has asked for: a start, a refresh. */
const nobody = '';

const scopes = new AsyncLocalStorage<RequestScope>();

/** Runs `work`, and all that it starts, for the request. */
export function runInScope<T>(scope: RequestScope, work: () => T): T {
  return scopes.run(scope, work);
}

/** The caller of the request that this code runs for; "" outside of a request. */
export function currentCaller(): string {
  return scopes.getStore()?.caller ?? nobody;
}

/**
 * The caller of a connection without a key. IPv4 counts as such however the socket writes it. Of an IPv6 address the
 * first 64 bits: the rest is for the caller to choose, so one host could be any number of callers.
 */
export function callerOfAddress(address: string | undefined): string {
  if (address === undefined) return 'unknown';
  if (!address.includes(':')) return address;
  const mapped = /^::ffff:(\d+(?:\.\d+){3})$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(address)) return address;
  const [head = '', tail] = (address.split('%')[0] ?? '').toLowerCase().split('::');
  const groups = head === '' ? [] : head.split(':');
  const rest = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - groups.length - rest.length);
  const all = [...groups, ...Array<string>(zeros).fill('0'), ...rest];
  return `${all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}
