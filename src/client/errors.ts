/** Everything that can go wrong with a call, as one class. */
import type { Problem, ProblemCode, Violation } from './contract.ts';

/**
 * What the client itself says: `unreachable` when no answer came (or the browser withheld it, for want of CORS),
 * `unexpected-answer` for one that is not the service's (a proxy's HTML, say), `stream-broken` for a stream of events
 * that breaks the contract or ends before its last event.
 */
export type ClientErrorCode = 'unreachable' | 'unexpected-answer' | 'stream-broken';

export interface ErrorFacts {
  /** Absent when there was no answer. */
  readonly status?: number | undefined;
  readonly errors?: readonly Violation[] | undefined;
  readonly retryAfter?: number | undefined;
  readonly requestId?: string | undefined;
  readonly cause?: unknown;
}

/** A refused, failed or unanswered call. An abort is none: it rejects with the signal's reason. */
export class ParlanceError extends Error {
  override readonly name = 'ParlanceError';
  /** A service newer than this client may have further codes: treat an unknown one by its status. */
  readonly code: ProblemCode | ClientErrorCode;
  /** What happened this time, and what to do about it; also the message. */
  readonly detail: string;
  /** The HTTP status; undefined when there was no answer. */
  readonly status: number | undefined;
  /** Every rule that the request breaks, with its place. */
  readonly errors: readonly Violation[];
  /** Seconds to wait before the next try, where known. */
  readonly retryAfter: number | undefined;
  /** Quote it when you ask the operator. */
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

  /** For the problem of a `chat.failed` event, and of an answer. */
  static fromProblem(problem: Problem, headers?: Headers): ParlanceError {
    const { code, detail, status, errors, instance, retry_after: inBody } = problem;
    // A proxy on the way may ask for a longer wait in the header.
    const retryAfter = (headers && retryAfterOf(headers)) ?? inBody;
    return new ParlanceError(code, detail, { status, errors, retryAfter, requestId: instance });
  }
}

/** The error of an answer that is no success. */
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

/** The error of an answer that is not the service's. */
export function unexpected(response: Response, cause?: unknown): ParlanceError {
  const { status, headers } = response;
  const what = cause === undefined ? (mediaTypeOf(response) ?? 'an answer without a media type') : 'a broken body';
  return new ParlanceError('unexpected-answer', `Status ${status} with ${what}: this is not an answer of Parlance.`, {
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
