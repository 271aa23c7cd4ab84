/** The error of every failed call. */
import type { Problem, ProblemCode, Violation } from './contract.ts';

/**
 * Codes of the client itself: `unreachable` if there is no response (or CORS blocks it), `unexpected-answer` for a
 * response that is not from the service (such as a proxy's HTML page), `stream-broken` for an event stream that breaks
 * the contract or ends before its last event.
 */
export type ClientErrorCode = 'unreachable' | 'unexpected-answer' | 'stream-broken';

/** Optional members of a `ParlanceError`. */
export interface ErrorFacts {
  /** Absent if there was no response. */
  readonly status?: number | undefined;
  readonly errors?: readonly Violation[] | undefined;
  readonly retryAfter?: number | undefined;
  readonly requestId?: string | undefined;
  readonly cause?: unknown;
}

/**
 * The error of a call that failed or got no response. An aborted call rejects with the signal's abort reason instead.
 */
export class ParlanceError extends Error {
  override readonly name = 'ParlanceError';
  /** Error code. Newer services may return codes that this list lacks: handle an unknown code by its `status`. */
  readonly code: ProblemCode | ClientErrorCode;
  /** Explanation of the error and how to fix it. The same text as `message`. */
  readonly detail: string;
  /** The HTTP status; undefined if there was no response. */
  readonly status: number | undefined;
  /** Every violation in the request, with its location; empty unless the code is `invalid-request`. */
  readonly errors: readonly Violation[];
  /** Seconds to wait before a retry, if known. */
  readonly retryAfter: number | undefined;
  /** Identifies the request in the log of the service. */
  readonly requestId: string | undefined;

  constructor(code: ProblemCode | ClientErrorCode, detail: string, facts: ErrorFacts = {}) {
    super(detail, { cause: facts.cause });
    this.code = code;
    this.detail = detail;
    this.status = facts.status;
    this.errors = facts.errors ?? [];
    this.retryAfter = facts.retryAfter;
    this.requestId = facts.requestId;
  }

  /** Creates the error for the problem of a `chat.failed` or `transcription.failed` event, or of a response. */
  static fromProblem(problem: Problem, headers?: Headers): ParlanceError {
    const { code, detail, status, errors, instance, retry_after: inBody } = problem;
    // A proxy may request a longer wait in the header.
    const retryAfter = (headers && retryAfterOf(headers)) ?? inBody;
    return new ParlanceError(code, detail, { status, errors, retryAfter, requestId: instance });
  }
}

/** Returns the error for an unsuccessful response. */
export async function toError(response: Response): Promise<ParlanceError> {
  if (mediaTypeOf(response) !== 'application/problem+json') return unexpected(response);
  try {
    const problem = (await response.json()) as Partial<Problem> | null;
    if (typeof problem?.code !== 'string' || typeof problem.detail !== 'string') return unexpected(response);
    return ParlanceError.fromProblem(problem as Problem, response.headers);
  } catch (cause) {
    return unexpected(response, cause);
  }
}

/** Returns the error for a response that is not from the service. */
export function unexpected(response: Response, cause?: unknown): ParlanceError {
  const { status, headers } = response;
  const what = cause === undefined ? (mediaTypeOf(response) ?? 'no media type') : 'an unreadable body';
  return new ParlanceError('unexpected-answer', `Status ${status} with ${what}: not a response of Parlance.`, {
    status,
    retryAfter: retryAfterOf(headers),
    requestId: headers.get('x-request-id') ?? undefined,
    cause,
  });
}

export function mediaTypeOf({ headers }: Response): string | undefined {
  return headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
}

/** The service sends seconds; a proxy may send a date (RFC 9110, 10.2.3). */
function retryAfterOf(headers: Headers): number | undefined {
  const value = headers.get('retry-after');
  if (value === null) return undefined;
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, Math.ceil(seconds));
}
