/** The access log: one line for each request, written at its end. */
import type { IncomingRequest } from './incoming-request.ts';
import { isProbe } from './probes.ts';

export interface RequestEnd {
  /** As sent: HEAD too. */
  readonly method: string;
  /** 499 when the caller disconnected before the end of the answer. */
  readonly status: number;
  readonly ms: number;
}

export function logRequest(request: IncomingRequest, { method, status, ms }: RequestEnd): void {
  const { id, operation, log, scope } = request;
  const level = isProbe(request.path) ? 'debug' : 'info'; // probes would be most of the log
  log[level](
    { id, operation, key: scope.key?.name, method, path: pathForLog(request), status, ms: Math.round(ms) },
    'request',
  );
}

const maxLoggedPath = 200;

/** The contract's template where there is one. The id of a clip is never logged: to know it is the permission to read it. */
function pathForLog(request: IncomingRequest): string {
  return routeOf(request) ?? request.path.replace(/(\/clips\/)[^/]+/i, '$1{id}').slice(0, maxLoggedPath);
}

/** The template of its operation in the contract, where it has one. */
export function routeOf({ operation, door: { contract } }: IncomingRequest): string | undefined {
  return operation && `${contract.root}${contract.operations.get(operation)?.path ?? ''}`;
}
