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
  /** Explains the error and how to fix it. Same text as `message`. */
  readonly detail: string;
  /** The HTTP status; undefined if there was no response. */
  readonly status: number | undefined;
  /** The violations in the request, with their locations; empty if the response lists none. */
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
    return new ParlanceError(code, detail, {
      status: typeof status === 'number' ? status : undefined,
      errors: Array.isArray(errors) ? errors : undefined,
      retryAfter: (headers && retryAfterOf(headers)) ?? secondsOf(inBody), // a proxy may request a longer wait
      requestId: typeof instance === 'string' ? instance : undefined,
    });
  }
}

/** Returns the error for an unsuccessful response. */
export async function toError(response: Response): Promise<ParlanceError> {
  if (mediaTypeOf(response) !== 'application/problem+json') return unexpected(response);
  try {
    const problem = (await response.json()) as Partial<Problem> | null;
    if (typeof problem?.code !== 'string' || typeof problem.detail !== 'string') return unexpected(response);
    return ParlanceError.fromProblem({ ...problem, status: response.status } as Problem, response.headers);
  } catch (cause) {
    return unexpected(response, { what: unreadable, cause });
  }
}

/** Describes a body that ends early or is not JSON. */
export const unreadable = 'an unreadable body';

interface Surprise {
  /** Describes what is wrong with the response. Defaults to its media type if not specified. */
  readonly what?: string;
  readonly cause?: unknown;
}

/** Returns the error for a response that is not from the service. */
export function unexpected(response: Response, { what, cause }: Surprise = {}): ParlanceError {
  const { status, headers } = response;
  const fault = what ?? mediaTypeOf(response) ?? 'no media type';
  return new ParlanceError('unexpected-answer', `Status ${status} with ${fault}: not a response of Parlance.`, {
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
  return secondsOf(Math.max(0, Math.ceil(seconds)));
}

function secondsOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}
