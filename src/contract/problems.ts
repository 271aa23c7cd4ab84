/** The one table of problem codes, and the one place that decides what of a failure a caller may read. */
import { EngineError } from '../../engines/contract/index.ts';
import { isAtMachineLimit } from '../../lib/resource-limits.ts';
import type { AnyAnswer, ProblemCode, Schemas } from './operations.ts';

interface ProblemKind {
  readonly status: number;
  /** The same for every occurrence of the code. */
  readonly title: string;
  /** Seconds for Retry-After when the failure itself names none. */
  readonly retryAfter?: number;
}

/** Every code of the contract. README's table is held to this one by a test. */
export const problems: Readonly<Record<ProblemCode, ProblemKind>> = {
  'invalid-request': { status: 422, title: 'The request breaks a rule of the contract' },
  'malformed-body': { status: 422, title: 'The body cannot be read' },
  'body-too-large': { status: 422, title: 'The body is larger than any valid one' },
  'recording-empty': { status: 422, title: 'The recording is empty' },
  'recording-too-large': { status: 422, title: 'The recording is too large' },
  'recording-too-long': { status: 422, title: 'The recording is too long' },
  'recording-not-accepted': { status: 422, title: 'The recording is in no container that is accepted' },
  'recording-undecodable': { status: 422, title: 'The recording could not be decoded' },
  'unknown-model': { status: 422, title: 'No model has this id' },
  'language-not-supported': { status: 422, title: 'The model does not know this language' },
  'voice-not-supported': { status: 422, title: 'The speech model does not have this voice' },
  'format-not-supported': { status: 422, title: 'The speech model does not offer this format' },
  'context-length-exceeded': { status: 422, title: 'The history is longer than the model can take' },
  'content-rejected': { status: 422, title: 'The provider rejects the content' },
  'provider-rejected-request': { status: 422, title: 'The provider rejects the request' },
  unauthorized: { status: 401, title: 'A valid bearer token is needed' },
  'host-not-allowed': { status: 403, title: 'The service does not answer to this host name' },
  'origin-not-allowed': { status: 403, title: 'Pages of this origin may not use the service' },
  'not-found': { status: 404, title: 'There is nothing at this address' },
  'clip-not-found': { status: 404, title: 'There is no such clip, or no longer' },
  'method-not-allowed': { status: 405, title: 'This address knows other methods' },
  'malformed-request': { status: 400, title: 'The request is not valid HTTP' },
  'request-timeout': { status: 408, title: 'The request did not arrive in time' },
  'unsupported-media-type': { status: 415, title: 'The body has the wrong content type' },
  'range-not-satisfiable': { status: 416, title: 'The range lies outside of the clip' },
  'expectation-failed': { status: 417, title: 'Unsupported Expect header' },
  'headers-too-large': { status: 431, title: 'Request headers too large' },
  'provider-quota-exhausted': { status: 429, title: "The provider's quota is exhausted" },
  'provider-rate-limited': { status: 429, title: "The provider's rate limit is reached", retryAfter: 1 },
  'internal-error': { status: 500, title: 'The service failed' },
  'engine-failed': { status: 500, title: 'The engine failed' },
  'provider-auth-failed': { status: 502, title: 'The provider refuses the key of the service' },
  'provider-misconfigured': { status: 502, title: 'The provider does not know what it was asked for' },
  'provider-unreachable': { status: 502, title: 'The provider cannot be reached' },
  'provider-error': { status: 502, title: 'The provider failed' },
  'provider-bad-response': { status: 502, title: 'The provider sent an answer that cannot be used' },
  'transcription-disabled': { status: 503, title: 'Transcription is switched off' },
  'no-engine': { status: 503, title: 'No engine is configured for this' },
  'model-unavailable': { status: 503, title: 'The model cannot work now' },
  overloaded: { status: 503, title: 'The service is at its limit', retryAfter: 1 },
  'storage-full': { status: 503, title: 'The service has no room on its disk', retryAfter: 30 },
  'shutting-down': { status: 503, title: 'The service is shutting down', retryAfter: 5 },
  'provider-overloaded': { status: 503, title: 'The provider is overloaded', retryAfter: 1 },
  'engine-timeout': { status: 504, title: 'The engine did not finish in time' },
  'provider-timeout': { status: 504, title: 'The provider did not answer in time' },
};

type Violation = Schemas['Violation'];
type Problem = Schemas['Problem'];

const body = (pointer: string, detail: string): Violation => ({ in: 'body', pointer, detail });

/** What of the request is to blame by the code alone, for failures that do not name a place: an engine knows no fields. */
export const places: Readonly<Partial<Record<ProblemCode, Violation>>> = {
  'body-too-large': body('', 'must not be larger than any valid one'),
  'recording-empty': body('/file', 'must not be empty'),
  'recording-too-large': body('/file', 'must not be larger than the model takes'),
  'recording-too-long': body('/file', 'must not be longer than the service takes'),
  'recording-undecodable': body('/file', 'must be a recording that can be decoded'),
  'unknown-model': body('/model', 'must be the id of a listed model'),
  'language-not-supported': body('/language', 'must be a language that the model knows'),
  'voice-not-supported': body('/voice_id', 'must be a voice of the speech model'),
  'format-not-supported': body('/format', 'must be a format that the speech model offers'),
};

/** A failure of the service's own. Its message goes to the caller; what is private belongs into `cause`. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
  readonly code: ProblemCode;
  readonly errors: readonly Violation[] | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ProblemCode,
    detail: string,
    {
      errors,
      headers = {},
      cause,
    }: { errors?: readonly Violation[]; headers?: Readonly<Record<string, string>>; cause?: unknown } = {},
  ) {
    super(detail, { cause });
    this.code = code;
    this.errors = errors;
    this.headers = headers;
  }
}

/** A request that breaks a rule in one place. */
export function invalid(part: Violation['in'], pointer: string, detail: string): ProblemError {
  const place = pointer.slice(1) || `the ${part}`;
  return new ProblemError('invalid-request', `${place} ${detail}`, { errors: [{ in: part, pointer, detail }] });
}

/** The answer to a failure, whatever was thrown. What is not made for the caller becomes a bare 500. */
export function problemAnswer(error: unknown, requestId: string): AnyAnswer & { readonly body: Problem } {
  const { code, detail, errors, headers } = readable(error);
  const { status, title } = problems[code];
  const type = `urn:parlance:problem:${code}`;
  const problem: Problem = { type, title, status, detail, code, instance: requestId };
  const seconds = headers['Retry-After'];
  if (seconds !== undefined) problem.retry_after = Number(seconds);
  const blamed = errors ?? (places[code] && [places[code]]);
  if (blamed) problem.errors = [...blamed];
  return { status, mediaType: 'application/problem+json', headers, body: problem };
}

function readable(thrown: unknown) {
  const error = isDiskFull(thrown) ? diskFull : isAtMachineLimit(thrown) ? atMachineLimit : thrown;
  if (error instanceof ProblemError) {
    return {
      code: error.code,
      detail: error.message,
      errors: error.errors,
      headers: { ...retryAfter(error.code), ...error.headers },
    };
  }
  if (EngineError.is(error) && Object.hasOwn(problems, error.code)) {
    return {
      code: error.code,
      detail: error.message,
      errors: undefined,
      headers: retryAfter(error.code, error.retryAfter),
    };
  }
  return {
    code: 'internal-error' as const,
    detail: 'Something went wrong in the service. Its log has the cause under the id of this request.',
    errors: undefined,
    headers: {},
  };
}

const diskFull = new ProblemError(
  'storage-full',
  'The disk of the service is full: it has no room for what this request needs.',
);

const atMachineLimit = new ProblemError(
  'overloaded',
  'The service has no file descriptors, processes or threads left for this request; try again later.',
);

/** Whoever runs into it, and however it was wrapped on its way here. */
function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOSPC' || code === 'EDQUOT' || isDiskFull(error.cause);
}

function retryAfter(code: ProblemCode, given?: number): Record<string, string> {
  const seconds = Number.isFinite(given) ? given : problems[code].retryAfter;
  return seconds === undefined ? {} : { 'Retry-After': String(Math.max(1, Math.ceil(seconds))) };
}
