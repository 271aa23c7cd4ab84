/** Errors of the service, and the only place that decides which parts of an error clients see. */
import { EngineError } from '../../engines/contract/index.ts';
import { isAtMachineLimit, isDiskFull } from '../../lib/resource-limits.ts';
import type { AnyAnswer, ProblemCode, Schemas } from './operations.ts';
import { problems } from './problem-table.ts';

type Violation = Schemas['Violation'];
type Problem = Schemas['Problem'];

const body = (pointer: string, detail: string): Violation => ({ in: 'body', pointer, detail });

export interface ProblemOptions {
  readonly errors?: readonly Violation[];
  readonly headers?: Readonly<Record<string, string>>;
  /** The limits of the API key that the request exceeds. */
  readonly violatedPolicies?: readonly string[];
  readonly cause?: unknown;
}

/** An error of the service. Clients see the message; private details belong in `cause`. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
  readonly code: ProblemCode;
  readonly errors: readonly Violation[] | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly violatedPolicies: readonly string[] | undefined;

  constructor(
    code: ProblemCode,
    detail: string,
    { errors, headers = {}, violatedPolicies, cause }: ProblemOptions = {},
  ) {
    super(detail, { cause });
    this.code = code;
    this.errors = errors;
    this.headers = headers;
    this.violatedPolicies = violatedPolicies;
  }
}

/** Returns the options of a problem with one violation in the body. */
export function inBody(pointer: string, detail: string): Pick<ProblemOptions, 'errors'> {
  return { errors: [body(pointer, detail)] };
}

/** Returns an `invalid-request` with one violation. */
export function invalid(part: Violation['in'], pointer: string, detail: string): ProblemError {
  const location = pointer.slice(1) || `the ${part}`;
  return new ProblemError('invalid-request', `${location} ${detail}`, { errors: [{ in: part, pointer, detail }] });
}

export interface ProblemAnswer extends AnyAnswer {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Problem;
}

/**
 * Returns an engine's message for the reader. Text for the operator is included only in the terminal, or if the service
 * is open only to its own machine.
 */
export function textFor({ isOperator }: Reader, text: string, forOperator?: string): string {
  return isOperator === true && forOperator !== undefined ? `${text} ${forOperator}` : text;
}

/** The reader of an answer. */
export interface Reader {
  readonly isOperator?: boolean | undefined;
}

/** Returns the problem document for any thrown value. Errors not meant for clients become a bare 500. */
export function problemAnswer(error: unknown, requestId: string, reader: Reader = {}): ProblemAnswer {
  const { code, message, errors, headers: own, violatedPolicies } = toProblem(error);
  const detail = EngineError.is(error) ? textFor(reader, message, error.forOperator) : message;
  const headers = { ...retryAfter(code), ...own };
  const { status, title, field } = problems[code];
  const type = `urn:parlance:problem:${code}`;
  const problem: Problem = { type, title, status, detail, code, instance: requestId };
  const seconds = headers['Retry-After'];
  if (seconds !== undefined) problem.retry_after = Number(seconds);
  const violations = errors ?? (field && [body(...field)]);
  if (violations) problem.errors = [...violations];
  if (violatedPolicies) problem.violated_policies = [...violatedPolicies];
  return { status, mediaType: 'application/problem+json', headers, body: problem };
}

/** Returns the code of the problem document for any thrown value. */
export function problemCodeOf(error: unknown): ProblemCode {
  return toProblem(error).code;
}

function toProblem(thrown: unknown): ProblemError {
  const error = comesFromFullDisk(thrown) ? diskFull : isAtMachineLimit(thrown) ? atMachineLimit : thrown;
  if (error instanceof ProblemError) return error;
  if (!EngineError.is(error) || !Object.hasOwn(problems, error.code)) return internalError;
  return new ProblemError(error.code, error.message, { headers: retryAfter(error.code, error.retryAfter) });
}

const internalError = new ProblemError(
  'internal-error',
  'Unexpected error. The log has the cause under this request id.',
);

const diskFull = new ProblemError('storage-full', 'The disk of the service is full; try again later.');

const atMachineLimit = new ProblemError(
  'overloaded',
  'The service is out of file descriptors, processes or threads; try again later.',
);

/** Whether the error, or one of its causes, reports a full disk. */
function comesFromFullDisk(error: unknown): boolean {
  return isDiskFull(error) || (error instanceof Error && comesFromFullDisk(error.cause));
}

/** One day. Without a maximum, numbers from 1e21 would be formatted with an exponent. */
const maxRetryAfterSeconds = 86_400;

function retryAfter(code: ProblemCode, given?: number): Record<string, string> {
  const seconds = Number.isFinite(given) ? given : problems[code].retryAfter;
  if (seconds === undefined) return {};
  return { 'Retry-After': String(Math.min(maxRetryAfterSeconds, Math.max(1, Math.ceil(seconds)))) };
}
