/** An API key: its name, what it may do, and how much. */
import { createNameFilter } from '../../lib/name-filter.ts';

/** Absent: unlimited. */
export interface KeyLimits {
  readonly requestsPerMinute?: number;
  readonly concurrentRequests?: number;
  readonly audioMinutesPerDay?: number;
  readonly tokensPerDay?: number;
}

/** As the keys file writes them; absent lists: all. */
export interface KeyRules {
  /** Operation ids of the native contract. */
  readonly operations?: readonly string[];
  /** Patterns of model ids, see lib/name-filter. */
  readonly models?: readonly string[];
  /** Patterns of the names of the service's own tools. */
  readonly tools?: readonly string[];
  readonly weight?: number;
  readonly limits?: KeyLimits;
}

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

const anything = () => true;
const nothing = () => false;

export function createKey(name: string, { operations, models, tools, weight = 1, limits = {} }: KeyRules = {}): Key {
  const granted = operations && new Set(operations);
  return {
    name,
    weight,
    limits,
    mayCall: granted ? (operationId) => granted.has(operationId) : anything,
    mayUseModel: models ? createNameFilter(models) : anything,
    mayUseTool: tools ? (tools.length === 0 ? nothing : createNameFilter(tools)) : anything,
  };
}
