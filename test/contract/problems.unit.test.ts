import { describe, expect, it } from 'vitest';
import { EngineError, engineErrorCodes } from '../../engines/contract/index.ts';
import { nativeContract } from '../../src/contract/document.ts';
import type { ProblemCode, Schemas } from '../../src/contract/operations.ts';
import { problems } from '../../src/contract/problem-table.ts';
import { invalid, ProblemError, problemAnswer } from '../../src/contract/problems.ts';
import { operations, resolve } from './support/document.ts';

const codes = Object.keys(problems) as ProblemCode[];

interface Shown {
  readonly example?: Schemas['Problem'];
  readonly examples?: Readonly<Record<string, { readonly value: Schemas['Problem'] }>>;
}

function statusesOf(operation: string): number[] {
  return Object.keys(nativeContract.operations.get(operation)?.responses ?? {}).map(Number);
}

describe('the table of problems', () => {
  it('has error statuses and unique titles', () => {
    for (const code of codes)
      expect(problems[code].status).toSatisfy((status: number) => status >= 400 && status < 600);
    expect(new Set(codes.map((code) => problems[code].title)).size).toBe(codes.length);
  });

  it.each(['createTranscription', 'createChat', 'streamChat', 'createSpeech'])(
    'maps engine errors only to statuses that %s declares',
    (operation) => {
      const declared = statusesOf(operation);
      expect(declared).toContain(200);
      for (const code of engineErrorCodes) expect(declared, code).toContain(problems[code].status);
    },
  );

  it('has only statuses that an operation declares, except for requests that reach no operation, and for the WebSocket', () => {
    const declared = [...nativeContract.operations.keys()].flatMap(statusesOf);
    const beforeRouting = ['malformed-request', 'expectation-failed', 'headers-too-large', 'upgrade-required'];
    const undeclared = codes.filter((code) => !declared.includes(problems[code].status));
    expect(undeclared).toEqual(beforeRouting);
  });

  it('matches the examples of the contract, and every declared problem has one', () => {
    for (const [operation, { responses }] of nativeContract.operations) {
      for (const [status, { content = {} }] of Object.entries(responses)) {
        const shown = content['application/problem+json'] as Shown | undefined;
        if (!shown) continue;
        const examples = shown.examples ? Object.values(shown.examples).map(({ value }) => value) : [shown.example];
        for (const example of examples) {
          const code = example?.code ?? 'internal-error';
          const { status: expected, title } = problems[code];
          expect(String(expected), `${operation} ${status}`).toBe(status);
          expect(example).toMatchObject({ title, status: expected, type: `urn:parlance:problem:${code}` });
        }
      }
    }
  });

  /** The failure itself says where, or no one knows: what a provider refuses may be any field, or what its tools said. */
  const withoutPlace = [
    ...['invalid-request', 'malformed-body', 'recording-not-accepted'],
    ...['context-length-exceeded', 'content-rejected', 'provider-rejected-request'],
  ];

  it('has a default field for each 422 code', () => {
    const blaming = codes.filter((code) => problems[code].status === 422);
    const withField = codes.filter((code) => problems[code].field);
    expect([...withField, ...withoutPlace].toSorted()).toEqual(blaming.toSorted());
  });

  it('has only default fields that exist in the body of an operation', () => {
    const fields = operations.flatMap(({ schemas }) =>
      Object.keys(schemas.body ? (resolve(schemas.body).properties ?? {}) : {}),
    );
    const pointers = ['', ...fields.map((field) => `/${field}`)];
    for (const { field } of Object.values(problems)) if (field) expect(pointers).toContain(field[0]);
  });

  it('has a Retry-After only where the contract declares one', () => {
    const declares = (status: number) =>
      [...nativeContract.operations.values()].some(({ responses }) => responses[status]?.headers?.['Retry-After']);
    for (const code of codes.filter((code) => problems[code].retryAfter)) {
      expect(declares(problems[code].status), code).toBe(true);
    }
  });
});

describe('the response to an error', () => {
  const answer = (error: unknown) => problemAnswer(error, 'request-1');

  it('is a problem document with code, status, title and request id', () => {
    expect(answer(new ProblemError('clip-not-found', 'There is no clip x.'))).toEqual({
      status: 404,
      mediaType: 'application/problem+json',
      headers: {},
      body: {
        type: 'urn:parlance:problem:clip-not-found',
        title: 'Clip not found or expired',
        status: 404,
        detail: 'There is no clip x.',
        code: 'clip-not-found',
        instance: 'request-1',
      } satisfies Schemas['Problem'],
    });
  });

  it('has the violations of the error, else the default of its code', () => {
    const english = new EngineError('language-not-supported', 'It transcribes English only.');
    const detail = 'must be a language that the model supports';
    expect(answer(english).body.errors).toEqual([{ in: 'body', pointer: '/language', detail }]);
    const errors = [{ in: 'body', pointer: '/tts_model', detail: 'must be the id of a listed model' }] as const;
    expect(answer(new ProblemError('unknown-model', 'No.', { errors })).body.errors).toEqual(errors);
    expect(answer(new EngineError('content-rejected', 'No.')).body).not.toHaveProperty('errors');
  });

  it('carries the headers and violations of the error', () => {
    const error = new ProblemError('method-not-allowed', 'This path knows GET.', { headers: { Allow: 'GET' } });
    expect(answer(error).headers).toEqual({ Allow: 'GET' });
    expect(answer(invalid('body', '/messages/0/content', 'must be a string')).body).toMatchObject({
      status: 422,
      code: 'invalid-request',
      detail: 'messages/0/content must be a string',
      errors: [{ in: 'body', pointer: '/messages/0/content', detail: 'must be a string' }],
    });
    expect(answer(invalid('body', '', 'must be an object')).body.detail).toBe('the body must be an object');
  });

  it('maps an EngineError by code and hides its cause', () => {
    const cause = new Error('sk-secret was refused by 10.0.0.7');
    const answered = answer(new EngineError('provider-auth-failed', 'The provider refuses the key.', { cause }));
    expect(answered).toMatchObject({ status: 502, body: { code: 'provider-auth-failed', status: 502 } });
    expect(answered.body.detail).toBe('The provider refuses the key.');
    expect(JSON.stringify(answered)).not.toMatch(/sk-secret|10\.0\.0\.7/);
  });

  it('recognizes an EngineError from another package with its own copy of the class', () => {
    const brand: unique symbol = Symbol.for('parlance.engine-error');
    class EngineError extends Error {
      readonly [brand] = true;
      readonly code = 'voice-not-supported';
      readonly retryAfter = undefined;
    }
    expect(answer(new EngineError('There is no voice "x".'))).toMatchObject({
      status: 422,
      body: { code: 'voice-not-supported', detail: 'There is no voice "x".' },
    });
  });

  const bare = {
    status: 500,
    mediaType: 'application/problem+json',
    headers: {},
    body: {
      type: 'urn:parlance:problem:internal-error',
      title: 'Internal error',
      status: 500,
      detail: 'Unexpected error. The log has the cause under this request id.',
      code: 'internal-error',
      instance: 'request-1',
    },
  };
  const branded = (members: object) =>
    Object.assign(new Error('private'), { [Symbol.for('parlance.engine-error')]: true }, members);
  it.each([
    ['an ordinary error', new TypeError('private')],
    ['an error of Node', Object.assign(new Error('private'), { code: 'overloaded', status: 503, expose: true })],
    ['what is no error', 'private'],
    ['nothing', undefined],
    ['null', null],
    ['a branded error with a code that there is not', branded({ code: 'out-of-coffee' })],
    ['a branded error with a code that only objects have', branded({ code: 'constructor' })],
    ['a branded error without a code', branded({})],
    ['an EngineError in a cause', new Error('private', { cause: new EngineError('overloaded', 'private') })],
  ])('is a bare 500 for %s', (_what, error) => {
    expect(answer(error)).toEqual(bare);
  });
});

describe('Retry-After', () => {
  const retryAfter = (retryAfter?: number, code: 'overloaded' | 'provider-error' = 'overloaded') =>
    problemAnswer(new EngineError(code, '', retryAfter === undefined ? {} : { retryAfter }), 'id').headers[
      'Retry-After'
    ];

  it.each([
    [0, '1'],
    [0.2, '1'],
    [1, '1'],
    [1.01, '2'],
    [59.5, '60'],
    [86_400, '86400'],
    [-5, '1'],
  ])('is whole seconds, rounded up, and at least 1: %d -> %s', (seconds, header) => {
    expect(retryAfter(seconds)).toBe(header);
  });

  it.each([NaN, Infinity, 1e308])('is always a number (%d)', (seconds) => {
    expect(retryAfter(seconds) ?? '1').toMatch(/^\d+$/);
  });

  it('defaults to the value of the code, if any', () => {
    expect(retryAfter()).toBe('1');
    expect(retryAfter(undefined, 'provider-error')).toBeUndefined();
  });

  it('is sent if the error has one, for any code', () => {
    expect(retryAfter(3, 'provider-error')).toBe('3');
  });

  it('can be set by the service itself', () => {
    const error = new ProblemError('shutting-down', 'Bye.', { headers: { 'Retry-After': '30' } });
    expect(problemAnswer(error, 'id').headers).toEqual({ 'Retry-After': '30' });
    expect(problemAnswer(new ProblemError('shutting-down', 'Bye.'), 'id').headers).toEqual({ 'Retry-After': '5' });
  });
});
