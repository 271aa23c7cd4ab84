/**
 * The scope of a request: its ids, API key, usage and caller. The caller is the name of the API key or, in open mode,
 * the address. Queues, budgets and clips are shared fairly among callers.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { isIPv6 } from 'node:net';
import type { Trace } from '../lib/trace-context.ts';

/** The limits of a key. A missing limit means unlimited. */
export interface KeyLimits {
  readonly requestsPerMinute?: number;
  readonly concurrentRequests?: number;
  readonly audioMinutesPerDay?: number;
  readonly tokensPerDay?: number;
}

/** An API key: its name, permissions and limits. */
export interface Key {
  /** Name of the key, and the caller of its requests. Several tokens may share one key. */
  readonly name: string;
  /** Share of a queue relative to other keys. Default: 1. */
  readonly weight: number;
  readonly limits: KeyLimits;
  /** Whether the key may use an operation of the native contract, which also governs requests under /v1. */
  readonly mayCall: (operationId: string) => boolean;
  /** Whether the key may use a model, given its id after aliases are resolved. */
  readonly mayUseModel: (id: string) => boolean;
  /** Whether the key may use a tool of the service, given the name that the model sees. */
  readonly mayUseTool: (name: string) => boolean;
}

/** Amounts that count toward daily budgets. */
export interface Used {
  /** Milliseconds of transcribed audio. */
  readonly audioMs?: number;
  /** Input and output tokens of a chat. */
  readonly tokens?: number;
}

export type Charge = (used: Used) => void;

/** The resources that a request has used so far, for its log line. The service changes no other part of a scope. */
export interface RequestUsage {
  /** Id of the model that serves the request. */
  model?: string;
  /** Length of the transcribed recording, in milliseconds. */
  audioMs?: number;
  /** Length of the audio decoded on this machine, in milliseconds. */
  decodedMs?: number;
  /**
   * Silence inserted into the most recently decoded recording, in milliseconds. Not charged, because it is not in the
   * file.
   */
  gapMs?: number;
  /** Time spent in call queues, in milliseconds. */
  queueMs?: number;
  /** Input and output tokens, as reported by the provider. */
  tokens?: number;
}

/** The scope of a request, available to all code that runs for it (AsyncLocalStorage). */
export interface RequestScope {
  /** The request id. */
  readonly id?: string;
  readonly trace?: Trace;
  /** The address of the client until the request is authenticated. Authentication creates a new scope. */
  readonly caller: string;
  /** True for local callers of a service that only accepts callers on this machine, and for the commands. */
  readonly isOperator?: boolean;
  /** Absent in open mode and for operations without authentication. */
  readonly key?: Key | undefined;
  /** SHA-256 of the token of the key, in hex. Absent in jobs, because a job belongs to all tokens of its key. */
  readonly tokenDigest?: string;
  /** Charges the daily budget of the key; undefined if the key has no budget for this operation. */
  readonly charge?: Charge | undefined;
  readonly usage?: RequestUsage;
  /** Ids of the services that have forwarded the request (lib/via). */
  readonly via?: readonly string[];
}

const scopes = new AsyncLocalStorage<RequestScope>();

/**
 * Runs `work` and everything it starts in the scope of the request. Passing `args` avoids a closure that long-running
 * work would keep in memory.
 */
export function runInScope<T, Args extends unknown[]>(
  scope: RequestScope,
  work: (...args: Args) => T,
  ...args: Args
): T {
  return scopes.run(scope, work, ...args);
}

/**
 * Returns the scope of work that outlives its request. Its key and budget always reflect the current keys file. A
 * removed key keeps its last state until the work is ended.
 */
export function liveScope(
  scope: RequestScope,
  find: () => Key | undefined,
  chargeFor: (key: Key) => Charge | undefined,
): RequestScope {
  let last = scope.key;
  const key = () => (last = find() ?? last);
  return {
    ...scope,
    get key() {
      return key();
    },
    get charge() {
      const current = key();
      return current && chargeFor(current);
    },
  };
}

/** The scope of the current request; undefined outside of a request. */
export function currentScope(): RequestScope | undefined {
  return scopes.getStore();
}

/** The caller of the current request; "" outside of requests, such as at startup. */
export function currentCaller(): string {
  return scopes.getStore()?.caller ?? '';
}

/** Whether the current request was made by the operator; false outside of requests. */
export function isForOperator(): boolean {
  return scopes.getStore()?.isOperator === true;
}

/** The API key of the current request; undefined, which permits everything, in open mode and outside of a request. */
export function currentKey(): Key | undefined {
  return scopes.getStore()?.key;
}

/** The usage of the current request, which callers update; undefined outside of a request. */
export function currentUsage(): RequestUsage | undefined {
  return scopes.getStore()?.usage;
}

/** The ids of the services that have forwarded the current request; undefined outside of a request. */
export function currentVia(): readonly string[] | undefined {
  const scope = scopes.getStore();
  return scope && (scope.via ?? []);
}

/**
 * Returns the caller of a connection without a key. IPv4-mapped addresses count as IPv4. IPv6 addresses are reduced to
 * their /64 prefix, because a host chooses the remaining bits itself and could pose as any number of callers.
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
