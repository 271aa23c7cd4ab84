/**
 * HTTP: the only file that knows Koa. Gives each request its id, its signal, its log line and its answer, whether the
 * backend answers or something fails.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { parse as parseQuery } from 'node:querystring';
import { Readable } from 'node:stream';
import Koa, { type Context } from 'koa';
import type { Logger, TemporaryDirectory } from '../engines/contract.ts';
import type { Incoming, Respond } from './backend.ts';
import { checkAnswer } from './contract/answers.ts';
import { apiRoot, documents, operationsById } from './contract/document.ts';
import { preflightHeaders, type Access } from './http/access.ts';
import { linger } from './http/body.ts';
import { toServerSentEvents } from './http/events.ts';
import { readJson, type ByteBudget } from './http/json.ts';
import { readForm } from './http/upload.ts';
import type { AnyAnswer, OperationId, Schemas } from './operations.ts';
import { ProblemError, problemAnswer } from './problems.ts';

export interface AppOptions {
  readonly respond: Respond;
  readonly access: Access;
  readonly budget: ByteBudget;
  /** Milliseconds that a body may take to arrive. */
  readonly bodyTimeoutMs: number;
  readonly log: Logger;
  /** Holds every answer against the contract before it is sent. */
  readonly checkAnswers: boolean;
  readonly temporaryDirectory: () => Promise<TemporaryDirectory>;
  /** Aborts when the service ends: requests that are still at work fail with `shutting-down`. */
  readonly ending: AbortSignal;
}

export type RequestListener = (req: IncomingMessage, res: ServerResponse) => void;

/** The caller has left: nothing is sent, and the log says 499. */
class CallerGone extends Error {
  override readonly name = 'CallerGone';
}

/** What belongs to one request, and ends with it. */
interface Exchange {
  readonly id: string;
  readonly started: number;
  readonly signal: AbortSignal;
  /** Run when the answer has been sent or the caller has left. */
  readonly cleanups: (() => unknown)[];
  operation?: OperationId;
}

export function createApp(options: AppOptions): RequestListener {
  const app = new Koa();
  app.on('error', (error: unknown) => options.log.debug({ err: error }, 'a connection broke'));
  app.use((context) => serve(context, options));
  const handle = app.callback();
  return (req, res) => void handle(req, res);
}

async function serve(context: Context, options: AppOptions): Promise<void> {
  const exchange = openExchange(context, options);
  context.set('X-Request-Id', exchange.id);
  const { origin } = context.headers;
  try {
    context.set(options.access.corsHeaders(origin));
    if (context.path !== '/healthz') options.access.admit(context.headers);
    if (isPreflight(context)) answerPreflight(context);
    else send(context, await answer(context, exchange, options));
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

async function answer(context: Context, exchange: Exchange, options: AppOptions): Promise<AnyAnswer> {
  const { method, path } = context;
  const page = pages.get(path);
  if (!page) return answerOperation(context, exchange, options);
  if (method !== 'GET' && method !== 'HEAD') {
    throw new ProblemError('method-not-allowed', `${path} knows GET, HEAD, not ${method}.`, {
      headers: { Allow: 'GET, HEAD' },
    });
  }
  return { status: 200, mediaType: 'application/json', body: page(options) };
}

async function answerOperation(context: Context, exchange: Exchange, options: AppOptions): Promise<AnyAnswer> {
  const check = (found: AnyAnswer) =>
    options.checkAnswers && exchange.operation ? checkAnswer(exchange.operation, found) : found;
  try {
    return check(await options.respond(incoming(context, exchange, options)));
  } catch (error) {
    const reason = exchange.signal.aborted ? (exchange.signal.reason as unknown) : error;
    if (reason instanceof CallerGone) throw reason;
    const problem = problemAnswer(reason, exchange.id);
    logFailure(problem, error, exchange, options.log);
    return check(problem);
  }
}

function openExchange({ req, res, method, path }: Context, { log, ending }: AppOptions): Exchange {
  const controller = new AbortController();
  const end = () => controller.abort(ending.reason);
  ending.addEventListener('abort', end);
  const exchange: Exchange = { id: randomUUID(), started: performance.now(), signal: controller.signal, cleanups: [] };
  res.once('finish', () => linger(req));
  res.once('close', () => {
    ending.removeEventListener('abort', end);
    const finished = res.writableFinished;
    if (!finished) controller.abort(new CallerGone('the caller has left'));
    const { id, operation } = exchange;
    const ms = Math.round(performance.now() - exchange.started);
    const status = finished ? res.statusCode : 499;
    log.info({ id, operation, method, path: pathForLog(operation, path), status, ms }, 'request');
    for (const cleanup of exchange.cleanups) runCleanup(cleanup, exchange, log);
  });
  return exchange;
}

/** The contract's template where there is one: the id of a clip is the permission to hear it. */
function pathForLog(operation: OperationId | undefined, path: string): string {
  return operation === undefined ? path : `${apiRoot}${operationsById.get(operation)?.path ?? ''}`;
}

function runCleanup(cleanup: () => unknown, { id }: Exchange, log: Logger): void {
  Promise.resolve()
    .then(cleanup)
    .catch((error: unknown) => log.error({ id, err: error }, 'what belonged to a request could not be removed'));
}

function incoming(context: Context, exchange: Exchange, options: AppOptions): Incoming {
  const { req, res, headers, path, method, querystring } = context;
  const { id, signal, cleanups } = exchange;
  const source = { req, res, signal, timeoutMs: options.bodyTimeoutMs };
  return {
    id,
    method: method === 'HEAD' ? 'GET' : method,
    path,
    query: parseQuery(querystring),
    headers,
    signal,
    log: options.log,
    authorize: () => options.access.authorize(headers),
    readJson: (limit) =>
      readJson(source, { limit, budget: options.budget, onEnd: (release) => cleanups.push(release) }),
    readForm: async () => {
      const directory = await options.temporaryDirectory();
      cleanups.push(() => directory[Symbol.asyncDispose]());
      return readForm(source, directory.path);
    },
    routedTo: (operation) => {
      exchange.operation = operation;
    },
  };
}

function isPreflight({ method, headers }: Context): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
}

function answerPreflight(context: Context): void {
  const { origin } = context.headers;
  if (!context.res.hasHeader('Access-Control-Allow-Origin')) {
    throw new ProblemError(
      'origin-not-allowed',
      `Pages of ${String(origin)} may not use this service: list it in CORS_ORIGINS.`,
    );
  }
  context.set(preflightHeaders);
  context.status = 204;
}

function send(context: Context, { status, mediaType, headers = {}, body }: AnyAnswer): void {
  context.status = status;
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) context.set(name, value);
  context.type = mediaType;
  if (mediaType === 'text/event-stream') {
    context.set({ 'Cache-Control': 'no-store, no-transform', 'X-Accel-Buffering': 'no' });
    context.body = Readable.from(toServerSentEvents(body as AsyncIterable<Schemas['ChatEvent']>));
  } else if (mediaType.startsWith('audio/')) {
    context.body = Readable.from(body as AsyncIterable<Uint8Array>, { objectMode: false });
  } else {
    context.body = typeof body === 'string' ? body : JSON.stringify(body);
    context.type = mediaType; // Koa takes a string for text
  }
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

/** Failures of ours go to the log with their cause; a caller's mistakes are told to the caller. */
function logFailure(
  { status, body }: { status: number; body: Schemas['Problem'] },
  error: unknown,
  exchange: Exchange,
  log: Logger,
): void {
  const facts = { id: exchange.id, operation: exchange.operation, code: body.code, err: error };
  if (status >= 500) log.error(facts, 'a request failed');
  else if (error instanceof Error && error.cause !== undefined) log.warn(facts, 'a request was refused');
  else log.debug(facts, 'a request was refused');
}
