/** The table of errors under /v1, in the shape that OpenAI's clients read. */
import type { AnyAnswer, ProblemCode } from '../contract/operations.ts';
import { inBody, ProblemError, type ProblemAnswer } from '../contract/problems.ts';
import type { Failed } from '../http/api-format.ts';
import type { Schemas } from './operations.ts';

interface ErrorRow {
  readonly status: number;
  readonly type: string;
  /** Default: the problem code with underscores. */
  readonly code?: string;
  /** The field that the code always blames. Default: the location of the first violation. */
  readonly param?: string;
  /** True if the same request may succeed later and has had no effects. Default: clients must not retry. */
  readonly retryable?: true;
  /** Maximum Retry-After in seconds for which clients should retry automatically. Default: unlimited. */
  readonly maxRetryAfter?: number;
}

const refused = { status: 400, type: 'invalid_request_error' } as const;
const recording = { ...refused, param: 'file' } as const;
const tooLarge = { status: 413, type: 'invalid_request_error' } as const;
const forbidden = { status: 403, type: 'permission_error' } as const;
const http = (status: number) => ({ status, type: 'invalid_request_error' }) as const;
const limited = { status: 429, type: 'rate_limit_error', retryable: true, maxRetryAfter: 60 } as const;
const failed = (status: number) => ({ status, type: 'server_error' }) as const;

/** Every problem code. Clients branch on the status and on `code`. */
export const errorTable: Readonly<Record<ProblemCode, ErrorRow>> = {
  'invalid-request': refused,
  'malformed-body': refused,
  'body-too-large': tooLarge,
  'recording-empty': recording,
  'recording-too-large': { ...tooLarge, param: 'file' },
  'recording-too-long': recording,
  'recording-not-accepted': recording,
  'recording-undecodable': recording,
  'unknown-model': { ...http(404), code: 'model_not_found' },
  'language-not-supported': { ...refused, param: 'language' },
  'voice-not-supported': { ...refused, param: 'voice' },
  'format-not-supported': { ...refused, param: 'response_format' },
  'parameter-not-supported': { ...refused, code: 'unsupported_parameter' },
  'context-length-exceeded': refused,
  'content-rejected': { ...refused, code: 'content_policy_violation' },
  'provider-rejected-request': refused,
  unauthorized: { ...http(401), code: 'invalid_api_key' },
  'host-not-allowed': forbidden,
  'origin-not-allowed': forbidden,
  'operation-not-allowed': forbidden,
  'model-not-allowed': forbidden,
  'preparation-not-allowed': forbidden,
  'not-found': { ...http(404), code: 'unknown_url' },
  'clip-not-found': http(404),
  'transcription-not-found': http(404),
  'preparation-not-found': http(404),
  'preparation-in-progress': http(409),
  'transcript-not-ready': http(409),
  'method-not-allowed': { ...http(405), code: 'unknown_url' },
  'malformed-request': http(400),
  'request-timeout': http(408),
  'unsupported-media-type': http(415),
  'range-not-satisfiable': http(416),
  'expectation-failed': http(417),
  'headers-too-large': http(431),
  'upgrade-required': http(426),
  'rate-limited': { ...limited, code: 'rate_limit_exceeded' },
  'concurrency-limited': limited,
  'quota-exceeded': { status: 429, type: 'insufficient_quota', code: 'insufficient_quota' },
  'provider-quota-exhausted': { status: 429, type: 'insufficient_quota', code: 'insufficient_quota' },
  'provider-rate-limited': { status: 429, type: 'rate_limit_error', code: 'rate_limit_exceeded', retryable: true },
  'internal-error': failed(500),
  'engine-failed': failed(500),
  'provider-auth-failed': failed(502),
  'provider-misconfigured': failed(502),
  'provider-unreachable': failed(502),
  'provider-error': failed(502),
  'provider-bad-response': failed(502),
  'transcription-disabled': failed(503),
  'no-engine': failed(503),
  'model-unavailable': failed(503),
  overloaded: { ...failed(503), retryable: true },
  'storage-full': { ...failed(503), retryable: true },
  'shutting-down': { ...failed(503), retryable: true },
  'not-ready': failed(503), // only /readyz
  'provider-overloaded': { ...failed(503), retryable: true },
  'engine-timeout': failed(504),
  'provider-timeout': failed(504),
};

/** A problem with a code of its own under /v1. */
abstract class NamedError extends ProblemError {
  abstract readonly codeHere: string;

  constructor(code: ProblemCode, pointer: string, rule: string) {
    const detail = `${pointer.slice(1)} ${rule}`;
    super(code, detail, inBody(pointer, detail));
  }
}

/** A known kind of value that no model supports, such as an image in a message. */
export class UnsupportedValue extends NamedError {
  readonly codeHere = 'unsupported_value';

  constructor(pointer: string, rule: string) {
    super('parameter-not-supported', pointer, rule);
  }
}

/** A reference to an unknown or expired item. */
export class ItemNotFound extends NamedError {
  readonly codeHere = 'item_not_found';

  constructor(pointer: string, rule: string) {
    super('not-found', pointer, rule);
  }
}

export function unsupportedParameter(pointer: string, rule = 'is not supported'): ProblemError {
  return new ProblemError('parameter-not-supported', `${pointer.slice(1)} ${rule}`, inBody(pointer, rule));
}

const withEffects = new WeakSet<AbortSignal>();

/**
 * Marks a request that has had effects, such as a chat whose tools may have run: from now on its failures have
 * `X-Should-Retry: false`. The signal identifies the request.
 */
export function markEffects(signal: AbortSignal): void {
  withEffects.add(signal);
}

type ErrorResponse = Schemas['ErrorResponse'];

/** Returns the answer for a failure. */
export function toErrorAnswer(problem: ProblemAnswer, { reason, signal }: Failed): AnyAnswer {
  const { code } = problem.body;
  const { status, retryable = false, maxRetryAfter = Infinity } = errorTable[code];
  const isRetryable = retryable && Number(problem.headers['Retry-After'] ?? 0) <= maxRetryAfter;
  return {
    status,
    mediaType: 'application/json',
    headers: { ...problem.headers, 'X-Should-Retry': String(isRetryable && !withEffects.has(signal)) },
    body: toErrorResponse(problem, reason),
  };
}

/** Returns the body of the answer, which is also the last event of a failed stream. */
export function toErrorResponse(
  { body: { code, detail, errors = [] } }: Pick<ProblemAnswer, 'body'>,
  reason: unknown,
): ErrorResponse {
  const row = errorTable[code];
  const [violation] = errors;
  const param = row.param ?? (violation && toParam(violation.pointer)) ?? null;
  const ownCode = reason instanceof NamedError ? reason.codeHere : (row.code ?? code.replaceAll('-', '_'));
  return { error: { message: toMessage(detail, violation?.pointer, param), type: row.type, param, code: ownCode } };
}

/** Converts `/messages/2/content/1` to `messages[2].content[1]`; returns undefined for the body as a whole. */
function toParam(pointer: string): string | undefined {
  const [first, ...rest] = pointer
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
  if (first === undefined) return undefined;
  return first + rest.map((segment) => (/^\d+$/.test(segment) ? `[${segment}]` : `.${segment}`)).join('');
}

/**
 * Names the field as the client knows it, because clients drop the field that a message names. Some details start with
 * it.
 */
function toMessage(detail: string, pointer = '', param: string | null): string {
  const path = pointer.slice(1);
  if (param === null) return detail;
  if (path !== '' && detail.startsWith(`${path} `)) return `${param}${detail.slice(path.length)}`;
  return detail.includes(param) ? detail : `${param}: ${detail}`;
}
