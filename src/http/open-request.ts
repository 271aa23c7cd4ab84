/** Creates an IncomingRequest, and cleans up and logs when it ends. */
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { isIP, type Socket } from 'node:net';
import type { Logger } from '../../engines/contract/index.ts';
import { onAbort } from '../../lib/abort.ts';
import { type Linked, LinkedList } from '../../lib/linked-list.ts';
import { isLoopback } from '../../lib/loopback.ts';
import { openTrace } from '../../lib/trace-context.ts';
import { readVia, viaHeader } from '../../lib/via.ts';
import { requestIdHeader } from '../contract/forwarding.ts';
import { linger, onBroken } from './body/receive.ts';
import { RequestBody, type RequestBodyOptions } from './body/request-body.ts';
import { safeListener, safeSharedListener } from './socket/safe-listener.ts';
import { UpgradeResponse } from './socket/upgrade.ts';
import { ClientDisconnected } from './failures.ts';
import { upgradedStatus, type Api, type IncomingRequest } from './incoming-request.ts';
import { isProbe } from './probes.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { callerOfAddress, type RequestScope, runInScope } from '../request-scope.ts';
import { type Attributes, beginSpan, endSpan, hasTracer } from '../trace.ts';

export interface IncomingRequestOptions extends RequestBodyOptions {
  readonly log: Logger;
  /** Returns the API of a request target. */
  readonly apiFor: (target: string) => Api;
  /** TRUST_PROXY. */
  readonly trustProxy: number;
  /** Whether loopback callers count as the operator. */
  readonly servesThisMachineOnly: boolean;
  /** Aborts when the service ends: requests in flight fail with `shutting-down`. */
  readonly ending: AbortSignal;
  readonly metrics?: Metrics | undefined;
  /** Whether the requests were received by another front. They keep their ids, and the other front logs them. */
  readonly areForwarded?: boolean;
}

type OpenRequest = (req: IncomingMessage, res: ServerResponse) => IncomingRequest;

export function createRequestOpener(options: IncomingRequestOptions): OpenRequest {
  const inFlight = new LinkedList<InFlight>();
  const { ending, log } = options;
  const onFinish = safeSharedListener(log, ({ req }: ServerResponse) => linger(req));
  // One listener for all requests, because adding and removing one listener per request would scan the listeners of all
  // other requests.
  onAbort(ending, (reason) => [...inFlight].forEach(({ abort }) => abort(reason)));
  return (req, res) => openRequest(req, res.on('finish', onFinish), options, inFlight);
}

interface InFlight extends Linked<InFlight> {
  readonly abort: (reason: unknown) => void;
}

function openRequest(
  req: IncomingMessage,
  res: ServerResponse,
  options: IncomingRequestOptions,
  inFlight: LinkedList<InFlight>,
): IncomingRequest {
  const { log, apiFor, trustProxy, servesThisMachineOnly, metrics, areForwarded = false } = options;
  const { method = '', url = '' } = req;
  const started = performance.now();
  const ownId = randomUUID();
  const id = areForwarded ? (forwardedId(req.headers) ?? ownId) : ownId;
  const { traceparent, tracestate } = req.headers;
  const address = clientAddress(req, trustProxy);
  const caller = callerOfAddress(address);
  const scope: RequestScope = {
    caller,
    isOperator: servesThisMachineOnly && (isLoopback(caller) || address === '::1'),
    id,
    trace: openTrace(ownId, traceparent, tracestate),
    usage: {},
    via: readVia(req.headers[viaHeader]),
  };
  const isTraced = hasTracer() && !isProbe(url);
  const span = isTraced ? runInScope(scope, beginSpan, 'server', method, { 'http.request.method': method }) : undefined;
  const controller = new AbortController();
  const { signal } = controller;
  const isUpgrade = res instanceof UpgradeResponse;
  const cleanups: (() => unknown)[] = [];
  let isOver = false;
  const atEnd = (cleanup: () => unknown) => {
    if (isOver) runCleanup(cleanup, request);
    else cleanups.push(cleanup);
  };
  const request: IncomingRequest = {
    id,
    api: apiFor(url),
    method: method === 'HEAD' ? 'GET' : method,
    headers: headersOf(req, isUpgrade),
    body: new RequestBody({ req, res, signal, atEnd }, options),
    scope,
    signal,
    log,
    atEnd,
    record: { path: '', isMinor: areForwarded },
    ...(isUpgrade && { upgraded }),
  };
  // `abort` and `closed` are called outside of the request's scope.
  const abort = (reason: unknown) => runInScope(scope, () => controller.abort(reason));
  const entry: InFlight = { abort };
  metrics?.requestStarted(method);
  inFlight.add(entry);
  onBroken(req, abort);
  res.on(
    'close',
    safeListener(log, () => runInScope(scope, closed)),
  );
  return request;

  function closed(): void {
    const isSent = res.writableFinished;
    if (!isSent) controller.abort(new ClientDisconnected('the caller has disconnected'));
    const status = isSent ? res.statusCode : 499;
    end(status);
    count(status);
  }

  function upgraded(): () => void {
    request.record.turns = 0;
    count(upgradedStatus);
    return () => end(upgradedStatus);
  }

  function end(status: number): void {
    isOver = true;
    inFlight.remove(entry);
    for (const cleanup of cleanups) runCleanup(cleanup, request);
    logRequest(request, { method, status, ms: performance.now() - started });
  }

  function count(status: number): void {
    if (metrics) countRequest(request, { method, status, ms: performance.now() - started }, metrics);
    if (span) endSpan(span, ...endOf(request, status, method));
  }
}

/** Returns the attributes and the name with which a request's span ends. */
function endOf(request: IncomingRequest, status: number, method: string): [Attributes, string] {
  const route = routeOf(request);
  const facts = { ...(route !== undefined && { 'http.route': route }), 'http.response.status_code': status };
  const failure = status >= 500 && { 'error.type': String(status) };
  return [{ ...facts, ...failure }, route === undefined ? method : `${method} ${route}`];
}

/** Returns the headers. For HEAD, omits Range, which is defined only for GET (RFC 9110, section 14.2). */
function headersOf({ method, headers }: IncomingMessage, isUpgrade: boolean): IncomingHttpHeaders {
  if (isUpgrade) return withProtocolKey(headers);
  if (method !== 'HEAD') return headers;
  const { range: _range, ...others } = headers;
  return others;
}

function forwardedId({ [requestIdHeader]: id }: IncomingHttpHeaders): string | undefined {
  return /^[\da-f-]{36}$/.exec(String(id))?.[0];
}

/**
 * Browsers cannot set the headers of a WebSocket, so they send the API key as a subprotocol. The key must not appear in
 * any log, so the Sec-WebSocket-Protocol header is removed here.
 */
function withProtocolKey({ 'sec-websocket-protocol': protocols = '', ...headers }: IncomingHttpHeaders) {
  const key = /(?:^|,)\s*openai-insecure-api-key\.([^\s,]+)/.exec(protocols)?.[1];
  return key === undefined ? headers : { authorization: `Bearer ${key}`, ...headers };
}

function runCleanup(cleanup: () => unknown, { id, log }: IncomingRequest): void {
  Promise.resolve()
    .then(cleanup)
    .catch((error: unknown) => log.error({ id, err: error }, 'the resources of a request could not be removed'));
}

interface RequestEnd {
  /** The method as sent, including HEAD. */
  readonly method: string;
  /** 499 if the caller disconnected before the answer ended. */
  readonly status: number;
  readonly ms: number;
}

/** Writes one line per request. Unknown fields are omitted, and an address is never logged as the key. */
function logRequest(request: IncomingRequest, { method, status, ms }: RequestEnd): void {
  const { id, log, scope, record } = request;
  const { operation, key, turns, responses, spokenMs, interruptions, close } = record;
  const { model, audioMs, queueMs, tokens } = scope.usage ?? {};
  const isMinor = isProbe(record.path) || record.isMinor === true; // such requests would otherwise dominate the log
  const level = isMinor ? 'debug' : 'info';
  const path = pathForLog(request);
  const facts = { id, operation, method, path, status, ms: Math.round(ms), key };
  const used = { model, audio_ms: rounded(audioMs), queue_ms: rounded(queueMs), tokens };
  const said = { turns, responses, spoken_ms: rounded(spokenMs), interruptions };
  log[level]({ ...facts, ...used, ...said, close }, 'request');
}

function countRequest(request: IncomingRequest, { method, status, ms }: RequestEnd, metrics: Metrics): void {
  const { path, operation, key, problem } = request.record;
  const error = problem ?? (status === 499 ? 'cancelled' : undefined);
  const facts = { method, route: routeOf(request), isProbe: isProbe(path), operation, key };
  metrics.requestEnded({ ...facts, status, ms, error });
}

const maxLoggedPath = 200;

/**
 * Returns the path template if an operation matched, otherwise the path. Clip ids are never logged, because an id
 * grants access to its clip.
 */
function pathForLog(request: IncomingRequest): string {
  return routeOf(request) ?? request.record.path.replace(/(\/clips\/)[^/]+/i, '$1{id}').slice(0, maxLoggedPath);
}

/** Returns the path template of the matched operation in the contract; undefined if none matched. */
function routeOf({ record: { operation }, api: { contract } }: IncomingRequest): string | undefined {
  return operation && `${contract.root}${contract.operations.get(operation)?.path ?? ''}`;
}

function rounded(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.round(ms);
}

/**
 * Returns the entry of X-Forwarded-For that the outermost of `proxies` trusted proxies appended. The client could have
 * forged everything to the left of their entries. Falls back to the peer's address if the entry is not a valid address.
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
