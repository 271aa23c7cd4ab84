/**
 * The caller of a request: the name of its API key, or in open mode its address. Queues, budgets and clips are all shared
 * fairly by caller.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { isIPv6 } from 'node:net';
import type { Trace } from '../lib/trace-context.ts';

/** Absent: unlimited. */
export interface KeyLimits {
  readonly requestsPerMinute?: number;
  readonly concurrentRequests?: number;
  readonly audioMinutesPerDay?: number;
  readonly tokensPerDay?: number;
}

/** An API key: its name, what it may do, and how much. */
export interface Key {
  /** Also the caller of its requests. Several tokens may share one key. */
  readonly name: string;
  /** Its share of a queue, relative to those of others. Default: 1. */
  readonly weight: number;
  readonly limits: KeyLimits;
  /** By operation id of the native contract, also for requests under /v1. */
  readonly mayCall: (operationId: string) => boolean;
  /** By model id, aliases resolved. */
  readonly mayUseModel: (id: string) => boolean;
  /** By the name that the model sees. Tools of the caller are not asked about. */
  readonly mayUseTool: (name: string) => boolean;
}

/** What daily budgets count. */
export interface Used {
  /** Milliseconds of a recording that have been transcribed. */
  readonly audioMs?: number;
  /** Tokens of a chat, input and output. */
  readonly tokens?: number;
}

export type Charge = (used: Used) => void;

/** What a request has used so far: for its log line. Filled while it runs; the rest of its scope never changes. */
export interface RequestUsage {
  /** The id of the model that serves it. */
  model?: string;
  /** Length of the transcribed recording. */
  audioMs?: number;
  /** Length of what was decoded for it on this machine. */
  decodedMs?: number;
  /** Time in job queues. */
  queueMs?: number;
  /** Input and output, as the provider reports them. */
  tokens?: number;
}

/** Available to all code that runs for a request (AsyncLocalStorage). */
export interface RequestScope {
  /** The request id. */
  readonly id?: string;
  readonly trace?: Trace;
  /** The address until the request is authenticated: then it gets a scope of its own. */
  readonly caller: string;
  /** undefined in open mode and for operations without authentication. */
  readonly key?: Key;
  /** Charges the budget of the key; undefined if it has none for this operation. */
  readonly charge?: Charge | undefined;
  readonly usage?: RequestUsage;
  /** Ids of the services that the request has passed (lib/via). */
  readonly via?: readonly string[];
}

const scopes = new AsyncLocalStorage<RequestScope>();

/** Runs `work`, and everything it starts, in the scope of the request. Arguments spare long work a closure. */
export function runInScope<T, Args extends unknown[]>(
  scope: RequestScope,
  work: (...args: Args) => T,
  ...args: Args
): T {
  return scopes.run(scope, work, ...args);
}

/** Undefined outside of a request. */
export function currentScope(): RequestScope | undefined {
  return scopes.getStore();
}

/** The caller of the current request; "" for work outside of requests: startup, refreshes. */
export function currentCaller(): string {
  return scopes.getStore()?.caller ?? '';
}

/** The API key of the current request; undefined in open mode and outside of a request: everything is permitted. */
export function currentKey(): Key | undefined {
  return scopes.getStore()?.key;
}

/** The usage of the current request, to add to; undefined outside of a request. */
export function currentUsage(): RequestUsage | undefined {
  return scopes.getStore()?.usage;
}

/** The services that the current request has passed; undefined outside of a request. */
export function currentVia(): readonly string[] | undefined {
  const scope = scopes.getStore();
  return scope && (scope.via ?? []);
}

/**
 * The caller of a connection without a key. IPv4-mapped addresses count as IPv4. IPv6 addresses count by their /64
 * prefix: hosts choose the rest themselves, so one host could be any number of callers.
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
