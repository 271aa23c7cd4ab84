/** The check of real answers against the contract: what it is there to catch, it catches. */
import { describe, expect, test } from 'vitest';
import { ContractViolation, answerCheckOf } from '../../src/contract/response-validation.ts';
import { nativeContract } from '../../src/contract/document.ts';
import type { AnyAnswer } from '../../src/contract/operations.ts';
import { problemAnswer, ProblemError } from '../../src/contract/problems.ts';

const transcript = { text: 'hello', language: 'en', duration_ms: 500, model: 'local' };
const fine: AnyAnswer = { status: 200, mediaType: 'application/json', body: transcript };
const problem = problemAnswer(new ProblemError('overloaded', 'later'), 'an-id');

const checkAnswer = answerCheckOf(nativeContract);
const check = (answer: AnyAnswer, operation = 'createTranscription') => checkAnswer(operation, answer);

test('accepts declared responses unchanged', () => {
  expect(check(fine)).toBe(fine);
  expect(check(problem)).toBe(problem);
});

test.each<[string, AnyAnswer]>([
  ['a status', { ...fine, status: 201 }],
  ['a media type', { ...fine, mediaType: 'text/plain' }],
  ['a media type for this status', { ...fine, mediaType: 'application/problem+json' }],
  ['a header', { ...fine, headers: { 'X-Other': 'x' } }],
  ['a form of a header', { ...problem, headers: { 'Retry-After': 'soon' } }],
  ['a missing property', { ...fine, body: { text: 'hello' } }],
  ['a type', { ...fine, body: { ...transcript, text: null } }],
  ['a language', { ...fine, body: { ...transcript, language: 'english' } }],
  ['a problem code', { ...problem, body: { ...problem.body, code: 'no-such-code' } }],
])('%s that it does not declare is a violation', (_what, answer) => {
  expect(() => check(answer)).toThrow(ContractViolation);
});

test('rejects a missing required header', () => {
  const unauthorized = problemAnswer(new ProblemError('unauthorized', 'who?'), 'an-id');
  expect(() => check(unauthorized)).toThrow('WWW-Authenticate is missing');
});

describe('a stream', () => {
  const stream = (...events: unknown[]): AnyAnswer => ({
    status: 200,
    mediaType: 'text/event-stream',
    body: (async function* () {
      yield* await Promise.resolve(events);
    })(),
  });
  async function read(answer: AnyAnswer): Promise<unknown[]> {
    const events: unknown[] = [];
    for await (const event of check(answer, 'streamChat').body as AsyncIterable<unknown>) events.push(event);
    return events;
  }
  const started = { type: 'chat.started', seq: 0, id: 'run', model: 'm' };

  test('is validated event by event', async () => {
    expect(await read(stream(started))).toEqual([started]);
  });

  test.each([
    ['of an unknown type', { type: 'chat.paused', seq: 1 }],
    ['that lacks a field', { type: 'chat.started', seq: 0, id: 'run' }],
    ['with a negative number', { ...started, seq: -1 }],
    ['that is not valid', 'hello'],
  ])('ends at an event %s', async (_what, event) => {
    await expect(read(stream(started, event))).rejects.toThrow(ContractViolation);
  });
});
