/** The table of problem codes, and the only place that decides which parts of an error clients see. */
import { EngineError } from '../../engines/contract/index.ts';
import { isAtMachineLimit, isDiskFull } from '../../lib/resource-limits.ts';
import type { AnyAnswer, ProblemCode, Schemas } from './operations.ts';

interface ProblemKind {
  readonly status: number;
  /** Title, the same for every occurrence of the code. */
  readonly title: string;
  /** Default Retry-After in seconds, when the error has none. */
  readonly retryAfter?: number;
}

/** Every code of the contract. A test compares it with docs/reference/errors.md. */
export const problems: Readonly<Record<ProblemCode, ProblemKind>> = {
  'invalid-request': { status: 422, title: 'Invalid request' },
  'malformed-body': { status: 422, title: 'Malformed request body' },
  'body-too-large': { status: 422, title: 'Request body too large' },
  'recording-empty': { status: 422, title: 'Empty recording' },
  'recording-too-large': { status: 422, title: 'Recording too large' },
  'recording-too-long': { status: 422, title: 'Recording too long' },
  'recording-not-accepted': { status: 422, title: 'Unsupported audio container' },
  'recording-undecodable': { status: 422, title: 'Recording cannot be decoded' },
  'unknown-model': { status: 422, title: 'Unknown model' },
  'language-not-supported': { status: 422, title: 'Language not supported by the model' },
  'voice-not-supported': { status: 422, title: 'Voice not supported by the speech model' },
  'format-not-supported': { status: 422, title: 'Format not supported by the speech model' },
  'parameter-not-supported': { status: 422, title: 'Parameter not supported by the model' },
  'context-length-exceeded': { status: 422, title: 'Context length exceeded' },
  'content-rejected': { status: 422, title: 'Content rejected by the provider' },
  'provider-rejected-request': { status: 422, title: 'Request rejected by the provider' },
  unauthorized: { status: 401, title: 'Missing or invalid API key' },
  'host-not-allowed': { status: 403, title: 'Host not allowed' },
  'origin-not-allowed': { status: 403, title: 'Origin not allowed' },
  'operation-not-allowed': { status: 403, title: 'Operation not allowed for the API key' },
  'model-not-allowed': { status: 403, title: 'Model not allowed for the API key' },
  'preparation-not-allowed': { status: 403, title: 'Preparations not allowed' },
  'not-found': { status: 404, title: 'Not found' },
  'clip-not-found': { status: 404, title: 'Clip not found or expired' },
  'transcription-not-found': { status: 404, title: 'Transcription not found or expired' },
  'preparation-not-found': { status: 404, title: 'Unknown preparation' },
  'preparation-in-progress': { status: 409, title: 'Another preparation in progress', retryAfter: 30 },
  'transcript-not-ready': { status: 409, title: 'Transcript not ready', retryAfter: 5 },
  'method-not-allowed': { status: 405, title: 'Method not allowed' },
  'malformed-request': { status: 400, title: 'Malformed HTTP request' },
  'request-timeout': { status: 408, title: 'Request timeout' },
  'unsupported-media-type': { status: 415, title: 'Unsupported content type' },
  'range-not-satisfiable': { status: 416, title: 'Range not satisfiable' },
  'expectation-failed': { status: 417, title: 'Unsupported Expect header' },
  'headers-too-large': { status: 431, title: 'Request headers too large' },
  'upgrade-required': { status: 426, title: 'WebSocket required' },
  'rate-limited': { status: 429, title: 'Rate limit reached', retryAfter: 60 },
  'concurrency-limited': { status: 429, title: 'Too many requests in flight', retryAfter: 1 },
  'quota-exceeded': { status: 429, title: 'Daily quota of the API key used up', retryAfter: 3_600 },
  'provider-quota-exhausted': { status: 429, title: 'Provider quota exhausted' },
  'provider-rate-limited': { status: 429, title: 'Provider rate limit reached', retryAfter: 1 },
  'internal-error': { status: 500, title: 'Internal error' },
  'engine-failed': { status: 500, title: 'Engine failed' },
  'provider-auth-failed': { status: 502, title: 'API key rejected by the provider' },
  'provider-misconfigured': { status: 502, title: 'Unknown model or path at the provider' },
  'provider-unreachable': { status: 502, title: 'Provider unreachable' },
  'provider-error': { status: 502, title: 'Provider error' },
  'provider-bad-response': { status: 502, title: 'Invalid response from the provider' },
  'transcription-disabled': { status: 503, title: 'Transcription disabled' },
  'no-engine': { status: 503, title: 'No engine configured' },
  'model-unavailable': { status: 503, title: 'Model unavailable' },
  overloaded: { status: 503, title: 'Service overloaded', retryAfter: 1 },
  'storage-full': { status: 503, title: 'Storage full', retryAfter: 30 },
  'shutting-down': { status: 503, title: 'Service shutting down', retryAfter: 5 },
  'not-ready': { status: 503, title: 'Service not ready', retryAfter: 5 },
  'provider-overloaded': { status: 503, title: 'Provider overloaded', retryAfter: 1 },
  'engine-timeout': { status: 504, title: 'Engine timeout' },
  'provider-timeout': { status: 504, title: 'Provider timeout' },
};

type Violation = Schemas['Violation'];
type Problem = Schemas['Problem'];

const body = (pointer: string, detail: string): Violation => ({ in: 'body', pointer, detail });

/** Default request field per code; engine errors carry no field of their own. */
export const defaultViolations: Readonly<Partial<Record<ProblemCode, Violation>>> = {
  'body-too-large': body('', 'must not exceed the size limit'),
  'recording-empty': body('/file', 'must not be empty'),
  'recording-too-large': body('/file', 'must not exceed the size limit of the model'),
  'recording-too-long': body('/file', 'must not exceed the maximum duration'),
  'recording-undecodable': body('/file', 'must be a decodable recording'),
  'unknown-model': body('/model', 'must be the id of a listed model'),
  'language-not-supported': body('/language', 'must be a language that the model supports'),
  'voice-not-supported': body('/voice_id', 'must be a voice of the speech model'),
  'format-not-supported': body('/format', 'must be a format that the speech model supports'),
  'parameter-not-supported': body('', 'must not contain a parameter that the model does not support'),
};

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
 * The sentences of an engine for the caller, who reads those for the operator only in the terminal or in a service that
 * is open to its own machine alone.
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
  const { status, title } = problems[code];
  const type = `urn:parlance:problem:${code}`;
  const problem: Problem = { type, title, status, detail, code, instance: requestId };
  const seconds = headers['Retry-After'];
  if (seconds !== undefined) problem.retry_after = Number(seconds);
  const fallback = defaultViolations[code];
  const violations = errors ?? (fallback && [fallback]);
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

/** Whether the disk is full, also if that error is the cause of another one. */
function comesFromFullDisk(error: unknown): boolean {
  return isDiskFull(error) || (error instanceof Error && comesFromFullDisk(error.cause));
}

/** A day. Numbers from 1e21 would be formatted with an exponent. */
const maxRetryAfterSeconds = 86_400;

function retryAfter(code: ProblemCode, given?: number): Record<string, string> {
  const seconds = Number.isFinite(given) ? given : problems[code].retryAfter;
  if (seconds === undefined) return {};
  return { 'Retry-After': String(Math.min(maxRetryAfterSeconds, Math.max(1, Math.ceil(seconds)))) };
}
