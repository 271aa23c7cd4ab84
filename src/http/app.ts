/**
 * The HTTP app. This is the only file that uses Koa. The app checks the head of each request, passes the request to the
 * router of its API, and sends the answer or the error.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import Koa from 'koa';
import type { Context } from 'koa';
import {
  nativeContract,
  nativeDocument32,
  openaiContract,
  realtimeDocument,
  withServers,
  withSocketServer,
} from '../contract/document.ts';
import type { AnyAnswer } from '../contract/operations.ts';
import { ProblemError } from '../contract/problems.ts';
import type { Access } from './access/auth.ts';
import { safeListener } from './socket/safe-listener.ts';
import { createSockets, UpgradeResponse, type Sockets } from './socket/upgrade.ts';
import { applyFaults } from './faults.ts';
import { answerDefect, ClientDisconnected, encodedFailureOf, failureOf, failureReason } from './failures.ts';
import { upgradedStatus, type IncomingRequest, type OpenedSession, type ScopedAnswer } from './incoming-request.ts';
import { createRequestOpener, type IncomingRequestOptions } from './open-request.ts';
import type { PageFile, PageFiles } from './page.ts';
import { alive, isProbe, type ReadyProbe } from './probes.ts';
import { readRequestHead, type RequestTarget } from './request-head.ts';
import { serveSession } from './sessions.ts';
import { eventStreamHeaders, sendEvents } from './sse.ts';
import { runInScope } from '../request-scope.ts';

export interface AppOptions extends IncomingRequestOptions {
  readonly access: Access;
  /** Idle milliseconds on an event stream before a heartbeat. */
  readonly heartbeatMs: number;
  /** Milliseconds between interim responses to clients that need them; undefined if INTERIM_RESPONSES is off. */
  readonly interimMs?: number | undefined;
  /** The files of the web page, by path. */
  readonly page: PageFiles;
  readonly readyProbe: ReadyProbe;
  /** PUBLIC_URL: the base of the `servers` in the documents. */
  readonly publicUrl?: string | undefined;
  /** The id of this service in chains of services. */
  readonly viaId: string;
  /** Milliseconds between checks of open WebSockets. */
  readonly socketCheckMs: number;
}

export type RequestListener = (req: IncomingMessage, res: ServerResponse) => void;

/** A listener of `upgrade` events. Resolves when the connection has been refused or has closed; never rejects. */
export type UpgradeListener = (req: IncomingMessage, socket: Duplex, head: Buffer) => Promise<void>;

export interface HttpApp {
  readonly listener: RequestListener;
  readonly upgrade: UpgradeListener;
}

export function createApp(options: AppOptions): HttpApp {
  const { log } = options;
  const app = new Koa();
  app.on('error', (error: unknown) => log.error({ err: error }, 'Koa failed')); // by default, Koa prints to stderr
  const openRequest = createRequestOpener(options);
  const sockets = createSockets({ log, checkMs: options.socketCheckMs });
  const serving = { ...options, documents: documentsOf(options), sockets };
  app.use((context) => {
    const request = openRequest(context.req, context.res);
    context.onerror = safeListener(log, (error: unknown) =>
      runInScope(request.scope, () => answerDefect(error, context.res, request)),
    );
    return runInScope(request.scope, () => serve(context, request, serving));
  });
  const handle = app.callback();
  const listener = safeListener(log, (req: IncomingMessage, res: ServerResponse) => {
    handle(req, res).catch((error: unknown) => {
      log.error({ err: error }, 'a request could not be answered');
      res.destroy();
    });
  });
  return {
    listener,
    async upgrade(req, socket, head) {
      socket.on('error', (error) => log.debug({ err: error }, 'a connection broke'));
      try {
        await handle(req, new UpgradeResponse(req, head));
      } catch (error) {
        log.error({ err: error }, 'an upgrade could not be answered');
        socket.destroy();
      }
    },
  };
}

interface Serving extends AppOptions {
  readonly documents: Documents;
  readonly sockets: Sockets;
}

async function serve(context: Context, request: IncomingRequest, options: Serving): Promise<void> {
  context.set('X-Request-Id', request.id);
  try {
    context.set(options.access.corsHeaders(request.headers.origin));
    const target = checkHead(context, request, options);
    const file = options.page.get(target.path);
    const document = options.documents.get(target.path);
    if (isPreflight(context)) answerPreflight(context, options.access);
    else if (file) await sendFile(context, file, request);
    else if (document) await sendDocument(context, document, request);
    else {
      const { answer, scope, faults } = await respond(context, request, target, options);
      const sent = faults ? applyFaults(answer, faults, context.res) : answer;
      await runInScope(scope, send, context, sent, request, options);
    }
  } catch (error) {
    if (failureReason(error, request) instanceof ClientDisconnected) context.respond = false;
    else sendWhole(context, failureOf(error, request).answer);
  }
}

async function respond(
  { req, res }: Context,
  request: IncomingRequest,
  target: RequestTarget,
  { interimMs }: AppOptions,
): Promise<ScopedAnswer> {
  const end = interimMs === undefined ? undefined : sendInterim(req, res, interimMs);
  return request.api.respond(request, target).finally(end);
}

function checkHead({ req, headers }: Context, request: IncomingRequest, { access, viaId }: AppOptions): RequestTarget {
  const { host, path, query } = readRequestHead(req);
  request.record.path = path;
  if (!isProbe(path)) access.checkSource({ ...headers, host });
  const target = { host, path: request.api.readPath(path), query };
  if (request.scope.via?.includes(viaId)) throw new ProblemError('provider-misconfigured', loop);
  return target;
}

const loop =
  'This service is its own provider, directly or through another service: the baseUrl of one of the engines is wrong.';

/** Response bodies that are not part of a contract, by path. */
type Documents = ReadonlyMap<string, () => unknown>;

function documentsOf({ publicUrl, ending, readyProbe }: AppOptions): Documents {
  const [native, native32, openai] = [nativeContract.text, nativeDocument32, openaiContract.text].map((text) =>
    withServers(text, publicUrl),
  );
  const realtime = withSocketServer(realtimeDocument, publicUrl);
  return new Map<string, () => unknown>([
    ['/healthz', () => alive(ending)],
    ['/readyz', readyProbe],
    [nativeContract.page, () => native],
    ['/openapi-3.2.json', () => native32],
    [openaiContract.page, () => openai],
    ['/asyncapi-compat.json', () => realtime],
  ]);
}

async function sendDocument(context: Context, read: () => unknown, request: IncomingRequest): Promise<void> {
  requireGet(request);
  sendWhole(context, { status: 200, mediaType: 'application/json', body: await read() });
}

async function sendFile(context: Context, file: PageFile, request: IncomingRequest): Promise<void> {
  request.record.isMinor = !file.mediaType.startsWith('text/html');
  requireGet(request);
  context.set(file.headers);
  context.status = 200;
  if (context.fresh) {
    context.status = 304;
    return;
  }
  const isPacked = context.acceptsEncodings('gzip', 'identity') === 'gzip';
  if (isPacked) context.set('Content-Encoding', 'gzip');
  context.body = isPacked ? file.gzipped() : await file.unpacked();
  context.type = file.mediaType;
}

function requireGet({ method }: IncomingRequest): void {
  if (method === 'GET') return;
  throw new ProblemError('method-not-allowed', `${method} is not supported; allowed: GET, HEAD`, {
    headers: { Allow: 'GET, HEAD' },
  });
}

function isPreflight({ method, headers }: Context): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
}

function answerPreflight(context: Context, access: Access): void {
  const { origin, 'access-control-request-headers': asked } = context.headers;
  context.set(access.preflightHeaders(origin, asked));
  context.vary('Access-Control-Request-Headers');
  context.status = 204;
}

/** Sends the answer. For a stream or a session, resolves when it has ended; Koa sends all other answers. */
function send(
  context: Context,
  answer: AnyAnswer,
  request: IncomingRequest,
  options: Serving,
): Promise<void> | undefined {
  const { res } = context;
  if (res instanceof UpgradeResponse && answer.status === upgradedStatus) {
    setHeaders(context, answer.headers);
    return serveSession(answer.body as OpenedSession, res, request, options).then(() => void (context.respond = false));
  }
  if (answer.mediaType === 'text/event-stream' && !answer.isForwarded)
    return sendStream(context, answer, request, options);
  if (answer.mediaType.startsWith('audio/')) sendAudio(context, answer);
  else if (answer.isForwarded) sendForwarded(context, answer);
  else sendWhole(context, answer);
  return undefined;
}

function sendForwarded(context: Context, { body, ...head }: AnyAnswer): undefined {
  sendHead(context, head);
  if (head.mediaType === 'text/event-stream') context.set(eventStreamHeaders);
  context.body = body;
  context.flushHeaders();
}

/** Bypasses Koa to save memory per stream. Async functions between Koa and the events would also use memory. */
function sendStream(
  context: Context,
  { body, headers, failed }: AnyAnswer,
  request: IncomingRequest,
  { heartbeatMs }: AppOptions,
): Promise<void> {
  context.respond = false;
  context.status = 200;
  setHeaders(context, headers);
  context.set(eventStreamHeaders);
  return sendEvents(context.res, {
    events: body as AsyncIterable<unknown>,
    format: request.api.stream,
    signal: request.signal,
    heartbeatMs,
    encodeFailure: (error, last) => encodedFailureOf(error, { last, failed }, request),
  });
}

function sendAudio(context: Context, { body, ...head }: AnyAnswer): void {
  sendHead(context, head);
  context.set(audioHeaders);
  context.body = body;
}

const audioHeaders = {
  // Audio at a URL never changes but is private to its caller; a buffering proxy would delay it.
  'Cache-Control': 'private, no-transform, max-age=600',
  'X-Accel-Buffering': 'no',
} as const;

function sendWhole(context: Context, { body, ...head }: AnyAnswer): void {
  sendHead(context, head);
  context.body = typeof body === 'string' ? body : JSON.stringify(body);
}

function sendHead(context: Context, { status, mediaType, headers }: Omit<AnyAnswer, 'body'>): void {
  context.status = status;
  setHeaders(context, headers);
  context.type = mediaType;
}

function setHeaders(context: Context, headers: AnyAnswer['headers'] = {}): void {
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) context.set(name, value);
}

const needsIt = /^(node|undici)$|^OpenAI\/JS\b/;
const setByProxies = /^(forwarded|x-forwarded-.*|x-real-ip|via|cf-.*)$/;

/**
 * Sends interim responses until the returned function is called, but none while the request body is still arriving or
 * after the response head has been sent.
 */
function sendInterim(req: IncomingMessage, res: ServerResponse, ms: number): () => void {
  if (!wantsInterim(req)) return () => undefined;
  const timer = setInterval(() => {
    if (req.complete && !res.headersSent && res.writable) res.writeProcessing();
  }, ms);
  return () => clearInterval(timer);
}

export function wantsInterim({ httpVersion, headers }: Pick<IncomingMessage, 'httpVersion' | 'headers'>): boolean {
  if (httpVersion !== '1.1' || !needsIt.test(headers['user-agent'] ?? '')) return false;
  return !Object.keys(headers).some((name) => setByProxies.test(name));
}
