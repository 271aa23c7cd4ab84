/** Converts request failures to answers in the shape of their API, and logs them. */
import type { ServerResponse } from 'node:http';
import type { AnyAnswer, ProblemCode } from '../contract/operations.ts';
import { problemAnswer, problemCodeOf, ProblemError, type ProblemAnswer } from '../contract/problems.ts';
import type { IncomingRequest } from './incoming-request.ts';
import { isProbe } from './probes.ts';
import { isConnectionError } from './socket/safe-listener.ts';

/** The caller has disconnected: no response is sent, and the status in the log is 499. */
export class ClientDisconnected extends Error {
  override readonly name = 'ClientDisconnected';
}

/**
 * Returns why the request failed. If the request was aborted, this is the abort reason, because the error is only a
 * consequence.
 */
export function failureReason(error: unknown, { signal }: IncomingRequest): unknown {
  return signal.aborted ? signal.reason : error;
}

interface Failure {
  readonly code: ProblemCode;
  readonly answer: AnyAnswer;
}

/** Logs a failed request and returns its answer. Throws `ClientDisconnected` when nobody would receive it. */
export function failureOf(error: unknown, request: IncomingRequest): Failure {
  const { reason, problem } = logged(error, request);
  return { code: problem.body.code, answer: request.api.toFailure(problem, { reason, signal: request.signal }) };
}

/**
 * Like `failureOf` for a stream that has begun: returns its last event, encoded. `failed` overrides the API's encoding.
 */
export function encodedFailureOf(
  error: unknown,
  { last, failed }: { readonly last: unknown; readonly failed: AnyAnswer['failed'] },
  request: IncomingRequest,
): string {
  const { reason, problem } = logged(error, request);
  const { stream } = request.api;
  return failed ? stream.encode(failed(problem.body, reason)) : stream.encodeFailure(problem, { reason, last });
}

function logged(error: unknown, request: IncomingRequest): { reason: unknown; problem: ProblemAnswer } {
  const reason = failureReason(error, request);
  if (reason instanceof ClientDisconnected) throw reason;
  const problem = problemAnswer(reason, request.id, request.scope);
  logFailure(problem, error, request);
  return { reason, problem };
}

/**
 * Codes of expected states, which are logged without a stack: transcription is switched off, or no engine or model is
 * available yet. A model that an engine reports as unavailable (`EngineError`) is logged with a stack, because it may
 * have crashed.
 */
const expected: ReadonlySet<ProblemCode> = new Set(['no-engine', 'model-unavailable', 'transcription-disabled']);

/**
 * Server errors are logged with their cause, except a probe that answers "not ready". Client errors without a cause are
 * logged by code only, at debug level: details quote what the client sent.
 */
export function logFailure({ status, body }: ProblemAnswer, error: unknown, request: IncomingRequest): void {
  const { id, log, record } = request;
  const { operation } = record;
  record.loggedFailure = error;
  record.problem = body.code;
  const facts = { id, operation, code: body.code, err: error };
  const isAnswerOfProbe = isProbe(record.path) && status === 503;
  const hasCause = error instanceof Error && error.cause !== undefined;
  if (error instanceof ProblemError && expected.has(error.code) && !hasCause) {
    log.info({ id, operation, code: body.code, reason: body.detail }, 'a request was refused');
  } else if (status >= 500 && !isAnswerOfProbe) log.error(facts, 'a request failed');
  else if (hasCause) log.warn(facts, 'a request was refused');
  else log.debug({ id, operation, code: body.code }, 'a request was refused');
}

/**
 * An error that reaches Koa is a bug in the service or a broken connection. A bug is answered with a problem unless a
 * response has already begun.
 */
export function answerDefect(error: unknown, res: ServerResponse, request: IncomingRequest): void {
  const { id, log, record, api, signal } = request;
  if (error === null || error === undefined) return; // Koa also calls this without an error
  const isKnown = error === record.loggedFailure || error instanceof ClientDisconnected || isConnectionError(error);
  log[isKnown ? 'debug' : 'error']({ id, err: error }, 'an answer could not be sent');
  if (!isKnown) record.problem ??= problemCodeOf(error);
  if (res.headersSent || res.writableEnded || res.destroyed) return;
  for (const name of res.getHeaderNames().filter((name) => !isOfEveryAnswer.test(name))) res.removeHeader(name);
  const { status, mediaType, headers, body } = api.toFailure(problemAnswer(error, id), { reason: error, signal });
  res.writeHead(status, { ...headers, 'Content-Type': mediaType }).end(JSON.stringify(body));
}

const isOfEveryAnswer = /^(x-request-id|vary|access-control-.*)$/;
