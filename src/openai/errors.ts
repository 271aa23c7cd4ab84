/** Errors under /v1, in the shape that OpenAI's clients read. */
import type { AnyAnswer, ProblemCode } from '../contract/operations.ts';
import { problems } from '../contract/problem-table.ts';
import { inBody, ProblemError, type ProblemAnswer } from '../contract/problems.ts';
import type { Failed } from '../http/api-format.ts';
import type { Schemas } from './operations.ts';

/** A problem with a more specific code under /v1. */
export class NamedError extends ProblemError {
  readonly codeHere: string;

  constructor(code: ProblemCode, codeHere: string, pointer: string, rule: string) {
    const detail = `${pointer.slice(1)} ${rule}`;
    super(code, detail, inBody(pointer, detail));
    this.codeHere = codeHere;
  }
}

/** The error for a known kind of value that is not supported, such as an image that is not a data URL. */
export class UnsupportedValue extends NamedError {
  constructor(pointer: string, rule: string) {
    super('parameter-not-supported', 'unsupported_value', pointer, rule);
  }
}

/** The error for a reference to an unknown or expired item. */
export class ItemNotFound extends NamedError {
  constructor(pointer: string, rule: string) {
    super('not-found', 'item_not_found', pointer, rule);
  }
}

export function unsupportedParameter(pointer: string, rule = 'is not supported'): ProblemError {
  return new ProblemError('parameter-not-supported', `${pointer.slice(1)} ${rule}`, inBody(pointer, rule));
}

const withEffects = new WeakSet<AbortSignal>();

/**
 * Marks a request that has had effects, such as a chat whose tools may have run. From now on, its failures have the
 * header `X-Should-Retry: false`. The signal identifies the request.
 */
export function markEffects(signal: AbortSignal): void {
  withEffects.add(signal);
}

type ErrorResponse = Schemas['ErrorResponse'];

/** Returns the error response for a failure. */
export function toErrorAnswer(problem: ProblemAnswer, { reason, signal }: Failed): AnyAnswer {
  const { code } = problem.body;
  const { status, retryable = false, maxRetryAfter = Infinity } = problems[code].openai;
  const isRetryable = retryable && Number(problem.headers['Retry-After'] ?? 0) <= maxRetryAfter;
  return {
    status,
    mediaType: 'application/json',
    headers: { ...problem.headers, 'X-Should-Retry': String(isRetryable && !withEffects.has(signal)) },
    body: toErrorResponse(problem, reason),
  };
}

/** Returns the body of the answer, which, except in the Responses API, is also the last event of a failed stream. */
export function toErrorResponse(
  { body: { code, detail, errors = [] } }: Pick<ProblemAnswer, 'body'>,
  reason: unknown,
): ErrorResponse {
  const row = problems[code].openai;
  const [violation] = errors;
  const param = row.param ?? (violation && toParam(violation.pointer)) ?? null;
  const ownCode = reason instanceof NamedError ? reason.codeHere : openaiCode(code);
  return { error: { message: toMessage(detail, violation?.pointer, param), type: row.type, param, code: ownCode } };
}

/** Returns the code of a problem under /v1. */
export function openaiCode(code: ProblemCode): string {
  return problems[code].openai.code ?? code.replaceAll('-', '_');
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
 * Adds the field to the message under the client's name for it, because clients discard `param`. Some details already
 * start with the field.
 */
function toMessage(detail: string, pointer = '', param: string | null): string {
  const path = pointer.slice(1);
  if (param === null) return detail;
  if (path !== '' && detail.startsWith(`${path} `)) return `${param}${detail.slice(path.length)}`;
  return detail.includes(param) ? detail : `${param}: ${detail}`;
}
