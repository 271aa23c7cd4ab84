/** Availability as the outcomes of earlier calls show it. */
import { beforeEach, describe, expect, test } from 'vitest';
import { EngineError, type EngineErrorCode } from '../../../../engines/contract/index.ts';
import { createHealth, type Health } from '../../../../engines/lib/provider/health.ts';

const failure = (code: EngineErrorCode) => new EngineError(code, 'It failed.');
const unreachable = failure('provider-unreachable');
const refused = failure('provider-auth-failed');

let time: number;
let health: Health;
const codeOf = (model: string) => health.availability(model)?.code;

beforeEach(() => {
  time = 1_000_000;
  health = createHealth('cloud', false, () => time);
});

test('a provider without outcomes is ready', () => {
  expect(health.availability('a')).toBeUndefined();
});

test('a provider whose key is missing stays unavailable, whatever its calls show', () => {
  health = createHealth('cloud', true, () => time);
  health.succeeded('a');
  expect(health.availability('a')).toMatchObject({ available: false, code: 'key-missing' });
  expect(health.availability('a')?.reason).toContain('cloud');
});

describe('a key', () => {
  test('that 401 refuses is refused for every model', () => {
    health.failed('a', refused, 401);
    expect([codeOf('a'), codeOf('b')]).toEqual(['key-refused', 'key-refused']);
    expect(health.availability('a')?.available).toBe(false);
  });

  test('that 403 refuses is refused for that model alone', () => {
    health.failed('a', refused, 403);
    expect([codeOf('a'), codeOf('b')]).toEqual(['key-refused', undefined]);
  });

  test('that was refused as a whole is accepted once any model succeeds', () => {
    health.failed('a', refused, 401);
    health.succeeded('b');
    expect([codeOf('a'), codeOf('b')]).toEqual([undefined, undefined]);
  });

  test('that was refused for a model is accepted once that model succeeds', () => {
    health.failed('a', refused, 403);
    health.succeeded('b');
    expect(codeOf('a')).toBe('key-refused');
    health.succeeded('a');
    expect(codeOf('a')).toBe(undefined);
  });

  test('that a call refused is not accepted by the list of models, which may need no key', () => {
    health.failed('a', refused, 401);
    health.succeeded(undefined);
    expect(codeOf('a')).toBe('key-refused');
  });

  test('that the list of models refused is accepted by the list of models', () => {
    health.failed(undefined, refused, 401);
    expect(codeOf('a')).toBe('key-refused');
    health.succeeded(undefined);
    expect(codeOf('a')).toBe(undefined);
  });
});

describe('a provider that cannot be reached', () => {
  test('says so for a minute, and may be called all the same', () => {
    health.failed('a', unreachable, undefined);
    expect(health.availability('b')).toMatchObject({ available: true, code: 'upstream-unreachable' });
    time += 59_999;
    expect(codeOf('b')).toBe('upstream-unreachable');
    time += 1;
    expect(codeOf('b')).toBe(undefined);
  });

  test.each([
    ['a success', () => health.succeeded('b')],
    ['an error answer', () => health.failed('b', failure('provider-error'), 500)],
  ])('is reachable again after %s', (_what, happen) => {
    health.failed('a', unreachable, undefined);
    happen();
    expect(codeOf('a')).toBe(undefined);
  });

  test('stays so after a failure that is no answer', () => {
    health.failed('a', unreachable, undefined);
    health.failed('a', failure('provider-bad-response'), undefined);
    expect(codeOf('a')).toBe('upstream-unreachable');
  });
});
