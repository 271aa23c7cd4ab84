/** Writes the access log line and the metrics of a request at its end. */
import type { Metrics } from '../metrics/metrics.ts';
import type { IncomingRequest } from './incoming-request.ts';
import { isProbe } from './probes.ts';

export interface RequestEnd {
  /** The method as sent, including HEAD. */
  readonly method: string;
  /** 499 when the caller disconnected before the end of the answer. */
  readonly status: number;
  readonly ms: number;
}

/** Writes one line per request. Unknown fields are omitted, and an address is never logged as the key. */
export function logRequest(request: IncomingRequest, { method, status, ms }: RequestEnd): void {
  const { id, log, scope, record } = request;
  const { operation, key } = record;
  const { model, audioMs, queueMs, tokens } = scope.usage ?? {};
  const isMinor = isProbe(record.path) || record.isAsset === true; // would otherwise dominate the log
  const level = isMinor ? 'debug' : 'info';
  const path = pathForLog(request);
  const facts = { id, operation, method, path, status, ms: Math.round(ms), key };
  log[level]({ ...facts, model, audio_ms: rounded(audioMs), queue_ms: rounded(queueMs), tokens }, 'request');
}

export function countRequest(request: IncomingRequest, { method, status, ms }: RequestEnd, metrics: Metrics): void {
  const { path, operation, key, problem } = request.record;
  const error = problem ?? (status === 499 ? 'cancelled' : undefined);
  const facts = { method, route: routeOf(request), isProbe: isProbe(path), operation, key };
  metrics.requestEnded({ ...facts, status, ms, error });
}

const maxLoggedPath = 200;

/** The path template, if an operation matched. Clip ids are never logged, because an id grants access to its clip. */
function pathForLog(request: IncomingRequest): string {
  return routeOf(request) ?? request.record.path.replace(/(\/clips\/)[^/]+/i, '$1{id}').slice(0, maxLoggedPath);
}

/** The path template of the matched operation in the contract; undefined if none matched. */
export function routeOf({ record: { operation }, api: { contract } }: IncomingRequest): string | undefined {
  return operation && `${contract.root}${contract.operations.get(operation)?.path ?? ''}`;
}

function rounded(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.round(ms);
}
