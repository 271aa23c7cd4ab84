/**
 * HTTP: the only file that knows Koa. Gives each request its id, its signal, its log line and its answer, whether the
 * backend answers or something fails.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { parse as parseQuery } from 'node:querystring';
import { Readable } from 'node:stream';
import Koa, { type Context } from 'koa';
import type { Logger } from '../../engines/contract/index.ts';
import type { Incoming, Respond } from './router.ts';
import { callerOfAddress, runInScope, type RequestScope } from '../caller.ts';
import { checkAnswer } from '../contract/response-validation.ts';
import { apiRoot, documents, operationsById } from '../contract/document.ts';
import { originNotAllowed, preflightHeaders, type Access } from './auth.ts';
import type { Arrivals } from './body-pace.ts';
import { linger } from './body.ts';
import { onBroken } from './break-request.ts';
import type { ByteBudget } from './body-budget.ts';
import { eventStreamHeaders, sendEvents } from './sse.ts';
import { guard, isConnectionError } from './safe-listener.ts';
import { readJson } from './json-body.ts';
import { readRequestHead } from './request-head.ts';
import { readForm } from './multipart.ts';
import type { AccountedDirectory } from '../system/workspace.ts';
import type { AnyAnswer, OperationId, Schemas } from '../contract/operations.ts';
import { ProblemError, problemAnswer } from '../contract/problems.ts';

export interface AppOptions {
  readonly respond: Respond;
  readonly access: Access;
  readonly budget: ByteBudget;
  readonly arrivals: Arrivals;
  /** Milliseconds that a JSON body may take to arrive. */
  readonly bodyTimeoutMs: number;
  /** Milliseconds that a recording may take to arrive. */
  readonly uploadTimeoutMs: number;
  /** Milliseconds of silence before a stream says that it lives. */
  readonly heartbeatMs: number;
  readonly log: Logger;
  /** Holds every answer against the contract before it is sent. */
  readonly checkAnswers: boolean;
  readonly temporaryDirectory: () => Promise<AccountedDirectory>;
  /** Aborts when the service ends: requests that are still at work fail with `shutting-down`. */
  readonly ending: AbortSignal;
}

export type RequestListener = (req: IncomingMessage, res: ServerResponse) => void;

/** The caller has left: nothing is sent, and the log says 499. */
class CallerGone extends Error {
  override readonly name = 'CallerGone';
}

type ProblemAnswer = ReturnType<typeof problemAnswer>;

/** What belongs to one request, and ends with it. */
interface Exchange {
  readonly id: string;
  readonly started: number;
  /** Small, and apart: whatever the request starts keeps it in memory. */
  readonly scope: RequestScope;
  readonly signal: AbortSignal;
  /** Has this run when the answer has been sent or the caller has left; at once, when that has been already. */
  readonly atEnd: (cleanup: () => unknown) => void;
  operation?: OperationId;
  /** As sent, without the query; "" until the head of the request has been checked. */
  path: string;
  /** The last failure that the log has. */
  logged?: unknown;
}

export function createApp(options: AppOptions): RequestListener {
  const { log } = options;
  const app = new Koa();
  app.on('error', (error: unknown) => log.error({ err: error }, 'Koa failed')); // its default prints to stderr
  const inFlight = endingWith(options.ending);
  app.use((context) => {
    const exchange = openExchange(context, options, inFlight);
    context.onerror = guard(log, (error: unknown) => answerDefect(context, exchange, error, log));
    return runInScope(exchange.scope, () => serve(context, exchange, options));
  });
  const handle = app.callback();
  return guard(log, (req, res) => {
    handle(req, res).catch((error: unknown) => {
      log.error({ err: error }, 'a request could not be answered');
      res.destroy();
    });
  });
}

/** Requests that end with the service. (As listeners of its signal, each would look at all others when it begins and ends.) */
function endingWith(ending: AbortSignal): Set<AbortController> {
  const inFlight = new Set<AbortController>();
  ending.addEventListener('abort', () => inFlight.forEach((request) => request.abort(ending.reason)), { once: true });
  return inFlight;
}

async function serve(context: Context, exchange: Exchange, options: AppOptions): Promise<void> {
  context.set('X-Request-Id', exchange.id);
  const { origin } = context.headers;
  try {
    context.set(options.access.corsHeaders(origin));
    const { host, path, query } = readRequestHead(context.req);
    exchange.path = path;
    if (path !== '/healthz') options.access.admit({ ...context.headers, host });
    if (isPreflight(context)) answerPreflight(context);
    else await deliver(context, await answer(context, { exchange, query }, options), exchange, options);
  } catch (error) {
    sendProblem(context, exchange, error, options.log);
  }
}

/** What the service shows beside the operations of the contract. */
const pages: ReadonlyMap<string, (options: AppOptions) => unknown> = new Map([
  ['/healthz', alive],
  ['/openapi.json', () => documents['3.1']],
  ['/openapi-3.2.json', () => documents['3.2']],
]);

function alive({ ending }: AppOptions): unknown {
  ending.throwIfAborted();
  return { status: 'ok' };
}

interface Question {
  readonly exchange: Exchange;
  readonly query: string;
}

async function answer(context: Context, question: Question, options: AppOptions): Promise<AnyAnswer> {
  const { method } = context;
  const { path } = question.exchange;
  const page = pages.get(path);
  if (!page) return answerOperation(context, question, options);
  if (method !== 'GET' && method !== 'HEAD') {
    throw new ProblemError('method-not-allowed', `${path} knows GET, HEAD, not ${method}.`, {
      headers: { Allow: 'GET, HEAD' },
    });
  }
  return { status: 200, mediaType: 'application/json', body: page(options) };
}

async function answerOperation(context: Context, question: Question, options: AppOptions): Promise<AnyAnswer> {
  const { exchange } = question;
  const check = (found: AnyAnswer) =>
    options.checkAnswers && exchange.operation ? checkAnswer(exchange.operation, found) : found;
  try {
    return check(await withSound(await options.respond(incoming(context, question, options)), exchange, options.log));
  } catch (error) {
    const problem = failureOf(error, exchange, options.log);
    return httpFailures.has(problem.body.code) ? problem : check(problem);
  }
}

/** These belong to no operation: they happen below the contract. */
const httpFailures: ReadonlySet<string> = new Set(['malformed-request', 'headers-too-large']);

/**
 * With its first bytes there, where it is audio: what fails before them can still be told in a problem. What fails
 * later breaks the connection: what has come must not look whole.
 */
async function withSound(found: AnyAnswer, exchange: Exchange, log: Logger): Promise<AnyAnswer> {
  if (!found.mediaType.startsWith('audio/')) return found;
  const body = Readable.from(found.body as AsyncIterable<Uint8Array>, { objectMode: false });
  exchange.atEnd(() => body.destroy(exchange.signal.reason as Error | undefined));
  await once(body, 'readable');
  const failed = (error: unknown) => {
    const reason: unknown = exchange.signal.aborted ? exchange.signal.reason : error;
    if (!(reason instanceof CallerGone)) logFailure(problemAnswer(reason, exchange.id), error, exchange, log);
  };
  body.on('error', guard(log, failed));
  return { ...found, body };
}

/** What the caller is told of a failure in an operation, which the log has heard of. Throws when the caller is gone. */
function failureOf(error: unknown, exchange: Exchange, log: Logger): ProblemAnswer {
  const reason = exchange.signal.aborted ? (exchange.signal.reason as unknown) : error;
  if (reason instanceof CallerGone) throw reason;
  const problem = problemAnswer(reason, exchange.id);
  logFailure(problem, error, exchange, log);
  return problem;
}

function openExchange({ req, res, method }: Context, { log }: AppOptions, inFlight: Set<AbortController>): Exchange {
  const controller = new AbortController();
  inFlight.add(controller);
  const cleanups: (() => unknown)[] = [];
  let isOver = false;
  const exchange: Exchange = {
    id: randomUUID(),
    started: performance.now(),
    scope: { caller: callerOfAddress(req.socket.remoteAddress) },
    path: '',
    signal: controller.signal,
    atEnd(cleanup) {
      if (isOver) runCleanup(cleanup, exchange, log);
      else cleanups.push(cleanup);
    },
  };
  const end = () => {
    isOver = true;
    inFlight.delete(controller);
    const finished = res.writableFinished;
    if (!finished) controller.abort(new CallerGone('the caller has left'));
    const { id, operation } = exchange;
    const ms = Math.round(performance.now() - exchange.started);
    const status = finished ? res.statusCode : 499;
    for (const cleanup of cleanups) runCleanup(cleanup, exchange, log);
    log.info({ id, operation, method, path: pathForLog(exchange), status, ms }, 'request');
  };
  onBroken(req, (reason) => controller.abort(reason));
  res.once(
    'finish',
    guard(log, () => linger(req)),
  );
  res.once('close', guard(log, end));
  return exchange;
}

const maxLoggedPath = 200;

/** The contract's template where there is one; the id of a clip is never told: it is the permission to hear it. */
function pathForLog({ operation, path }: Exchange): string {
  if (operation === undefined) return path.replace(/(\/clips\/)[^/]+/i, '$1{id}').slice(0, maxLoggedPath);
  return `${apiRoot}${operationsById.get(operation)?.path ?? ''}`;
}

function runCleanup(cleanup: () => unknown, { id }: Exchange, log: Logger): void {
  Promise.resolve()
    .then(cleanup)
    .catch((error: unknown) => log.error({ id, err: error }, 'what belonged to a request could not be removed'));
}

function incoming(context: Context, { exchange, query }: Question, options: AppOptions): Incoming {
  const { req, res, method } = context;
  const headers = method === 'HEAD' ? withoutRange(context.headers) : context.headers;
  const { id, path, signal, atEnd } = exchange;
  const source = { req, res, signal, timeoutMs: options.bodyTimeoutMs, arrivals: options.arrivals };
  return {
    id,
    method: method === 'HEAD' ? 'GET' : method,
    path,
    query: parseQuery(query),
    headers,
    signal,
    log: options.log,
    authorize: () => {
      exchange.scope.caller = options.access.authorize(headers) ?? exchange.scope.caller;
    },
    readJson: (rules) => readJson(source, { ...rules, budget: options.budget, onEnd: atEnd }),
    readForm: async () => {
      const directory = await options.temporaryDirectory();
      atEnd(() => directory[Symbol.asyncDispose]());
      return readForm({ ...source, timeoutMs: options.uploadTimeoutMs }, directory);
    },
    routedTo: (operation) => {
      exchange.operation = operation;
    },
  };
}

/** A range is one of GET's alone (RFC 9110, 14.2). */
function withoutRange({ range: _range, ...others }: IncomingHttpHeaders): IncomingHttpHeaders {
  return others;
}

function isPreflight({ method, headers }: Context): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
}

function answerPreflight(context: Context): void {
  const { origin } = context.headers;
  if (!context.res.hasHeader('Access-Control-Allow-Origin')) {
    throw originNotAllowed(String(origin));
  }
  context.set(preflightHeaders);
  context.status = 204;
}

async function deliver(context: Context, found: AnyAnswer, exchange: Exchange, options: AppOptions): Promise<void> {
  if (found.mediaType === 'text/event-stream') await stream(context, found, exchange, options);
  else if (found.mediaType.startsWith('audio/')) sendAudio(context, found);
  else send(context, found);
}

/** Past Koa, which has nothing to add to a stream but memory. */
async function stream(context: Context, { body }: AnyAnswer, exchange: Exchange, options: AppOptions): Promise<void> {
  context.respond = false;
  context.status = 200;
  context.set(eventStreamHeaders);
  await sendEvents(context.res, {
    events: body as AsyncIterable<Schemas['ChatEvent']>,
    signal: exchange.signal,
    heartbeatMs: options.heartbeatMs,
    toProblem: (error) => failureOf(error, exchange, options.log).body,
  });
}

function sendAudio(context: Context, { body, ...head }: AnyAnswer): void {
  sendHead(context, head);
  context.set(audioHeaders);
  context.body = body;
}

const audioHeaders = {
  // What an address says never changes, but it is its hearer's alone; a proxy that buffers would hold it back.
  'Cache-Control': 'private, no-transform, max-age=600',
  'X-Accel-Buffering': 'no',
} as const;

function send(context: Context, { body, ...head }: AnyAnswer): void {
  sendHead(context, head);
  context.body = typeof body === 'string' ? body : JSON.stringify(body);
}

function sendHead(context: Context, { status, mediaType, headers = {} }: Omit<AnyAnswer, 'body'>): void {
  context.status = status;
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) context.set(name, value);
  context.type = mediaType;
}

/** Failures outside of an operation: access, preflight, and answers that break the contract. */
function sendProblem(context: Context, exchange: Exchange, error: unknown, log: Logger): void {
  if (error instanceof CallerGone) {
    context.respond = false;
    return;
  }
  const problem = problemAnswer(error, exchange.id);
  logFailure(problem, error, exchange, log);
  send(context, problem);
}

/**
 * What reaches Koa is a defect of ours or a connection that broke. The caller of a defect gets a problem, as long as
 * nothing of another answer has been sent.
 */
function answerDefect({ res }: Context, exchange: Exchange, error: unknown, log: Logger): void {
  if (error === null || error === undefined) return; // Koa also says that nothing went wrong
  const { id } = exchange;
  const isKnown = error === exchange.logged || error instanceof CallerGone || isConnectionError(error);
  log[isKnown ? 'debug' : 'error']({ id, err: error }, 'an answer could not be sent');
  if (res.headersSent || res.writableEnded || res.destroyed) return;
  for (const name of res.getHeaderNames().filter((name) => !isOfEveryAnswer.test(name))) res.removeHeader(name);
  const { status, mediaType, body } = problemAnswer(error, id);
  res.writeHead(status, { 'Content-Type': mediaType }).end(JSON.stringify(body));
}

const isOfEveryAnswer = /^(x-request-id|vary|access-control-.*)$/;

/** Failures of ours go to the log with their cause; a caller's mistakes are told to the caller. */
function logFailure({ status, body }: ProblemAnswer, error: unknown, exchange: Exchange, log: Logger): void {
  exchange.logged = error;
  const facts = { id: exchange.id, operation: exchange.operation, code: body.code, err: error };
  if (status >= 500) log.error(facts, 'a request failed');
  else if (error instanceof Error && error.cause !== undefined) log.warn(facts, 'a request was refused');
  else log.debug(facts, 'a request was refused');
}
