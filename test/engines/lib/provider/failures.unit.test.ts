/** The table of provider failures: each answer that is an error, its code, its message and its Retry-After. */
import { describe, expect, test } from 'vitest';
import type { EngineErrorCode } from '../../../../engines/contract/index.ts';
import { refusalError, isWorthRetry, readRefusal } from '../../../../engines/lib/provider/failures.ts';
import { readRetryAfter } from '../../../../lib/retry-after.ts';

const cause = new Error('what the provider wrote');

function failure(status: number, body: string | object, retryAfter?: number) {
  return refusalError(readRefusal(status, typeof body === 'string' ? body : JSON.stringify(body), retryAfter), {
    ...{ url: 'http://provider.test/v1', cause },
  });
}

/** An error as OpenAI words it. */
const openai = (error: object) => ({ error: { message: 'no', type: 'x', param: null, code: null, ...error } });

const table: readonly (readonly [name: string, status: number, body: string | object, code: EngineErrorCode])[] = [
  ['insufficient_quota (OpenAI)', 429, openai({ code: 'insufficient_quota' }), 'provider-quota-exhausted'],
  ['an exceeded quota', 429, openai({ message: 'You exceeded your current quota' }), 'provider-quota-exhausted'],
  ['payment required', 402, openai({ message: 'Insufficient credits' }), 'provider-quota-exhausted'],
  ['billing', 400, openai({ message: 'Billing hard limit reached' }), 'provider-quota-exhausted'],
  ['a quota of the organization', 403, openai({ message: 'Quota exceeded for this org' }), 'provider-quota-exhausted'],
  ['a rate limit', 429, openai({ code: 'rate_limit_exceeded' }), 'provider-rate-limited'],
  [
    'a rate limit whose text names a quota per minute',
    429,
    openai({ message: 'Quota per minute' }),
    'provider-rate-limited',
  ],
  ['a wrong key', 401, openai({ message: 'Incorrect API key provided' }), 'provider-auth-failed'],
  ['a key without access', 403, openai({ message: 'Your country is not supported' }), 'provider-auth-failed'],
  ['context_length_exceeded (OpenAI)', 400, openai({ code: 'context_length_exceeded' }), 'context-length-exceeded'],
  ['the context size (llama.cpp)', 400, openai({ type: 'exceed_context_size_error' }), 'context-length-exceeded'],
  ['the context length (vLLM)', 400, { message: 'maximum context length is 4096' }, 'context-length-exceeded'],
  ['the length (Groq)', 413, openai({ message: 'Please reduce the length' }), 'context-length-exceeded'],
  ['string_above_max_length', 400, openai({ code: 'string_above_max_length' }), 'context-length-exceeded'],
  ['a content policy', 400, openai({ message: 'violates our content policy' }), 'content-rejected'],
  ['content_filter (Azure)', 400, openai({ code: 'content_filter' }), 'content-rejected'],
  ['a parameter', 400, openai({ message: 'temperature must be positive' }), 'provider-rejected-request'],
  ['no text', 422, '', 'provider-rejected-request'],
  ['a payload', 413, '<html>413</html>', 'provider-rejected-request'],
  ['a media type', 415, 'Unsupported Media Type', 'provider-rejected-request'],
  ['another Parlance that is misconfigured', 502, { code: 'provider-misconfigured' }, 'provider-misconfigured'],
  ['the same, at /v1', 502, openai({ code: 'provider_misconfigured' }), 'provider-misconfigured'],
  ['an unknown model', 400, openai({ code: 'model_not_found' }), 'provider-misconfigured'],
  ['an unknown path', 404, openai({ message: 'not found' }), 'provider-misconfigured'],
  ['a method', 405, '', 'provider-misconfigured'],
  ['a path that is gone', 410, '', 'provider-misconfigured'],
  ['HTTP at nginx', 400, '<center>The plain HTTP request was sent to HTTPS port</center>', 'provider-misconfigured'],
  ['HTTP at Caddy', 400, 'Client sent an HTTP request to an HTTPS server.\n', 'provider-misconfigured'],
  ['HTTP at Apache', 400, "<p>You're speaking plain HTTP to an SSL-enabled server port.", 'provider-misconfigured'],
  ['a redirect', 307, '', 'provider-misconfigured'],
  ['a timeout of the request', 408, '', 'provider-timeout'],
  ['a timeout of its gateway', 504, '<html>Gateway Timeout</html>', 'provider-timeout'],
  ['unavailability', 503, 'no upstream', 'provider-overloaded'],
  ['overload (Anthropic)', 529, openai({ type: 'overloaded_error' }), 'provider-overloaded'],
  ['a failure', 500, openai({}), 'provider-error'],
  ['a bad gateway', 502, '<html>502</html>', 'provider-error'],
  ['a status of its own', 418, 'teapot', 'provider-error'],
];

describe('an error answer', () => {
  test.each(table)('about %s (%i) is classified', (_name, status, body, code) => {
    const error = failure(status, body);
    expect(error).toMatchObject({ code, cause });
    // The provider's own words are for the log alone.
    for (const word of ['Incorrect', 'country', 'teapot', 'html']) expect(error.message).not.toContain(word);
  });

  test.each([
    ['the input (pydantic)', { detail: [{ msg: 'Field required', input: { content: 'my billing quota' } }] }],
    ['the answer (Groq)', openai({ code: 'tool_use_failed', failed_generation: 'Your billing is flagged.' })],
  ])('is not classified by the words of %s that it repeats', (_what, body) => {
    expect(failure(400, body).code).toBe('provider-rejected-request');
  });

  test('names the field that the provider rejects, if it is a plain name', () => {
    const rejected = (param: unknown) => failure(400, openai({ param })).message;
    expect(rejected('temperature')).toBe('The provider rejected the request field "temperature".');
    for (const param of ['messages[0] of internal-host', 'A', 'a'.repeat(50), 5, null]) {
      expect(rejected(param)).toBe('The provider rejected the request.');
    }
  });

  test.each([
    [429, 20],
    [503, 20],
    [529, 20],
    [402, 20],
    [401, undefined],
    [400, undefined],
    [500, undefined],
    [404, undefined],
  ])('with Retry-After passes it on where waiting helps (%i)', (status, expected) => {
    expect(failure(status, '', 20).retryAfter).toBe(expected);
  });
});

describe('a refusal', () => {
  test('has the fields of `error`', () => {
    const error = { message: 'm', code: 'c', type: 't', param: 'p' };
    expect(readRefusal(400, JSON.stringify({ error }), 5)).toMatchObject({ status: 400, ...error, retryAfter: 5 });
  });

  test('has the fields beside the message where there is no `error`', () => {
    expect(readRefusal(400, '{"message":"m","type":"t"}', undefined)).toMatchObject({
      message: 'm',
      type: 't',
      code: '',
    });
  });

  test.each(['{"error":"text"}', '{"detail":"text"}'])('has its message beside no other field (%j)', (text) => {
    expect(readRefusal(500, text, undefined)).toMatchObject({ text, message: 'text', code: '', type: '', param: '' });
  });

  test.each(['', 'no JSON', '[1]', 'null', '"text"', '{"error":{"message":5}}'])(
    'without a message has the whole text as its message (%j)',
    (text) => {
      expect(readRefusal(500, text, undefined)).toMatchObject({ text, message: text, code: '', type: '', param: '' });
    },
  );
});

describe('a retry', () => {
  const proxies = ['', 'Bad Gateway', '<html><body><h1>502 Bad Gateway</h1>', '"text"', 'null'];
  const apis = ['{"code":"provider-error","status":502}', '{"error":{"message":"upstream"}}', '{"detail":"no"}'];
  const isRetried = (status: number) => (body: string) => isWorthRetry(readRefusal(status, body, undefined));

  test.each([502, 504])('follows %i of a proxy, not that of an API', (status) => {
    expect(proxies.filter(isRetried(status))).toEqual(proxies);
    expect(apis.filter(isRetried(status))).toEqual([]);
  });

  test('follows 503 of either, and no other status', () => {
    expect([...proxies, ...apis].every(isRetried(503))).toBe(true);
    for (const status of [400, 401, 404, 408, 429, 500, 529]) expect(proxies.filter(isRetried(status))).toEqual([]);
  });
});

describe('Retry-After', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  test.each<[string | string[] | undefined, number | undefined]>([
    ['20', 20],
    [' 1.5 ', 1.5],
    ['0', 0],
    ['99999999', 86_400],
    [['7', '8'], 7],
    ['Thu, 01 Jan 2026 00:01:30 GMT', 90],
    ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
    ['soon', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('%j is %j seconds', (header, seconds) => {
    expect(readRetryAfter(header, now)).toBe(seconds);
  });
});
