/** Opens an IncomingRequest, and cleans up and logs at its end. */
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from '../../engines/contract/index.ts';
import { callerOfAddress } from '../caller.ts';
import { logRequest } from './access-log.ts';
import { linger } from './body.ts';
import { onBroken } from './break-request.ts';
import { clientAddress } from './client-address.ts';
import { CallerGone } from './failures.ts';
import type { Door, IncomingRequest } from './incoming-request.ts';
import { createRequestBody, type RequestBodyOptions } from './request-body.ts';
import { guard } from './safe-listener.ts';

export interface IncomingRequestOptions extends RequestBodyOptions {
  readonly log: Logger;
  /** The door for a request target. */
  readonly doorFor: (target: string) => Door;
  /** TRUST_PROXY. */
  readonly trustProxy: number;
  /** Aborts when the service ends: requests in flight fail with `shutting-down`. */
  readonly ending: AbortSignal;
}

export type OpenRequest = (req: IncomingMessage, res: ServerResponse) => IncomingRequest;

export function createRequestOpener(options: IncomingRequestOptions): OpenRequest {
  const inFlight = new Set<AbortController>();
  const { ending } = options;
  // One listener for all requests: with one each, adding and removing it would scan the listeners of all others.
  ending.addEventListener('abort', () => inFlight.forEach((request) => request.abort(ending.reason)), { once: true });
  return (req, res) => openRequest(req, res, options, inFlight);
}

function openRequest(
  req: IncomingMessage,
  res: ServerResponse,
  options: IncomingRequestOptions,
  inFlight: Set<AbortController>,
): IncomingRequest {
  const { log, doorFor, trustProxy } = options;
  const { method = '', url = '' } = req;
  const started = performance.now();
  const controller = new AbortController();
  const { signal } = controller;
  const cleanups: (() => unknown)[] = [];
  let isOver = false;
  const atEnd = (cleanup: () => unknown) => {
    if (isOver) runCleanup(cleanup, request);
    else cleanups.push(cleanup);
  };
  const request: IncomingRequest = {
    id: randomUUID(),
    door: doorFor(url),
    method: method === 'HEAD' ? 'GET' : method,
    path: '',
    query: '',
    headers: method === 'HEAD' ? withoutRange(req.headers) : req.headers,
    body: createRequestBody({ req, res, signal, atEnd }, options),
    scope: { caller: callerOfAddress(clientAddress(req, trustProxy)) },
    signal,
    log,
    atEnd,
  };
  const end = () => {
    isOver = true;
    inFlight.delete(controller);
    const isSent = res.writableFinished;
    if (!isSent) controller.abort(new CallerGone('the caller has disconnected'));
    for (const cleanup of cleanups) runCleanup(cleanup, request);
    logRequest(request, { method, status: isSent ? res.statusCode : 499, ms: performance.now() - started });
  };
  inFlight.add(controller);
  onBroken(req, (reason) => controller.abort(reason));
  res.once(
    'finish',
    guard(log, () => linger(req)),
  );
  res.once('close', guard(log, end));
  return request;
}

/** Range is defined for GET only (RFC 9110, 14.2). */
function withoutRange({ range: _range, ...others }: IncomingHttpHeaders): IncomingHttpHeaders {
  return others;
}

function runCleanup(cleanup: () => unknown, { id, log }: IncomingRequest): void {
  Promise.resolve()
    .then(cleanup)
    .catch((error: unknown) => log.error({ id, err: error }, 'the resources of a request could not be removed'));
}
