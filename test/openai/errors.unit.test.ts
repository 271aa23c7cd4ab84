/** The table of errors under /v1, and the shape that OpenAI's clients read. */
import { describe, expect, it } from 'vitest';
import { EngineError } from '../../engines/contract/index.ts';
import { openaiContract } from '../../src/contract/document.ts';
import { problems } from '../../src/contract/problem-table.ts';
import { invalid, problemAnswer, ProblemError } from '../../src/contract/problems.ts';
import type { ProblemCode, Schemas } from '../../src/contract/operations.ts';
import { markEffects, toErrorAnswer, UnsupportedValue } from '../../src/openai/errors.ts';
import type { Schemas as OpenAISchemas } from '../../src/openai/operations.ts';

/** The answer to a failure as a client reads it. */
function failWith(reason: unknown, { hasEffects = false } = {}) {
  const { signal } = new AbortController();
  if (hasEffects) markEffects(signal);
  const { status, headers = {}, body } = toErrorAnswer(problemAnswer(reason, 'an-id'), { reason, signal });
  const { error } = body as OpenAISchemas['ErrorResponse'];
  return { status, headers, ...error };
}

const codes = Object.keys(problems) as ProblemCode[];

describe('the table of errors', () => {
  it('has only statuses that an operation declares, except for requests that reach no operation', () => {
    const declared = [...openaiContract.operations.values()].flatMap(({ responses }) => Object.keys(responses));
    const undeclared = codes.filter((code) => !declared.includes(String(problems[code].openai.status)));
    const elsewhere = [
      'expectation-failed',
      'headers-too-large',
      'range-not-satisfiable',
      'transcript-not-ready',
      'preparation-in-progress',
    ];
    expect(undeclared.toSorted()).toEqual(elsewhere.toSorted());
  });

  it('lets clients retry only requests that may succeed later and have had no effects', () => {
    const retryable = codes.filter(
      (code) => failWith(new ProblemError(code, 'x')).headers['X-Should-Retry'] === 'true',
    );
    const expected = [
      'rate-limited',
      'concurrency-limited',
      'overloaded',
      'shutting-down',
      'provider-overloaded',
      'provider-rate-limited',
      'storage-full',
    ];
    expect(retryable.toSorted()).toEqual(expected.toSorted());
  });

  it.each<[ProblemCode, string, string]>([
    ['rate-limited', '60', 'true'],
    ['rate-limited', '61', 'false'],
    ['concurrency-limited', '1', 'true'],
    ['quota-exceeded', '1', 'false'],
    ['provider-rate-limited', '600', 'true'],
  ])('after %s with a Retry-After of %s s: X-Should-Retry: %s', (code, seconds, expected) => {
    const { headers } = failWith(new ProblemError(code, 'x', { headers: { 'Retry-After': seconds } }));
    expect(headers).toMatchObject({ 'Retry-After': seconds, 'X-Should-Retry': expected });
  });

  it('never lets them retry a request that has had effects', () => {
    for (const code of codes) {
      const { headers } = failWith(new ProblemError(code, 'x'), { hasEffects: true });
      expect(headers['X-Should-Retry'], code).toBe('false');
    }
  });

  it.each<[ProblemCode, number, string, string]>([
    ['unknown-model', 404, 'invalid_request_error', 'model_not_found'],
    ['unauthorized', 401, 'invalid_request_error', 'invalid_api_key'],
    ['host-not-allowed', 403, 'permission_error', 'host_not_allowed'],
    ['origin-not-allowed', 403, 'permission_error', 'origin_not_allowed'],
    ['not-found', 404, 'invalid_request_error', 'unknown_url'],
    ['request-timeout', 408, 'invalid_request_error', 'request_timeout'],
    ['body-too-large', 413, 'invalid_request_error', 'body_too_large'],
    ['recording-too-large', 413, 'invalid_request_error', 'recording_too_large'],
    ['parameter-not-supported', 400, 'invalid_request_error', 'unsupported_parameter'],
    ['provider-rejected-request', 400, 'invalid_request_error', 'provider_rejected_request'],
    ['context-length-exceeded', 400, 'invalid_request_error', 'context_length_exceeded'],
    ['content-rejected', 400, 'invalid_request_error', 'content_policy_violation'],
    ['provider-quota-exhausted', 429, 'insufficient_quota', 'insufficient_quota'],
    ['provider-rate-limited', 429, 'rate_limit_error', 'rate_limit_exceeded'],
    ['concurrency-limited', 429, 'rate_limit_error', 'concurrency_limited'],
    ['quota-exceeded', 429, 'insufficient_quota', 'insufficient_quota'],
    ['internal-error', 500, 'server_error', 'internal_error'],
    ['provider-timeout', 504, 'server_error', 'provider_timeout'],
  ])('answers %s with %i, type %s and code %s', (code, status, type, ownCode) => {
    expect(failWith(new ProblemError(code, 'x'))).toMatchObject({ status, type, code: ownCode });
  });
});

describe('an error', () => {
  it('names the field as the client wrote it, in param and in the message', () => {
    const error = failWith(invalid('body', '/messages/2/content/1', 'must be a text part'));
    expect(error.param).toBe('messages[2].content[1]');
    expect(error.message).toBe('messages[2].content[1] must be a text part');
  });

  it.each<[string, Schemas['Violation']['pointer'], string | null]>([
    ['a field', '/temperature', 'temperature'],
    ['a form field with brackets', '/timestamp_granularities[]', 'timestamp_granularities[]'],
    ['a nested field', '/stream_options/include_usage', 'stream_options.include_usage'],
    ['an escaped name', '/a~1b~0c', 'a/b~c'],
    ['the body as a whole', '', null],
  ])('names %s', (_what, pointer, param) => {
    expect(failWith(invalid('body', pointer, 'is wrong')).param).toBe(param);
  });

  it.each<[ProblemCode, string]>([
    ['language-not-supported', 'language'],
    ['voice-not-supported', 'voice'],
    ['format-not-supported', 'response_format'],
    ['recording-undecodable', 'file'],
    ['unknown-model', 'model'],
  ])('%s of an engine names the field of this API: %s', (code, param) => {
    expect(failWith(new EngineError(code as 'overloaded', 'x')).param).toBe(param);
  });

  it('has the code unsupported_value for a value that no model supports', () => {
    const error = failWith(new UnsupportedValue('/messages/0/content/0', 'is an image'));
    expect(error).toMatchObject({ status: 400, code: 'unsupported_value', param: 'messages[0].content[0]' });
    expect(error.message).toBe('messages[0].content[0] is an image');
  });

  it('keeps Retry-After', () => {
    const { headers } = failWith(new EngineError('provider-rate-limited', 'later', { retryAfter: 7 }));
    expect(headers['Retry-After']).toBe('7');
  });

  it('hides the cause of a defect', () => {
    const { message, code } = failWith(new TypeError('secret'));
    expect(code).toBe('internal_error');
    expect(message).not.toContain('secret');
  });
});
