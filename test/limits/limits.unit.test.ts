/** The limits of a key, request by request: what is counted, what is refused, and which fields say so. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ProblemError } from '../../src/contract/problems.ts';
import { limitHeaders, type LimitHeaders } from '../../src/contract/rate-limit.ts';
import { runInScope, type Charge, type Key, type KeyLimits } from '../../src/request-scope.ts';
import type { Budget } from '../../src/contract/operations.ts';
import { createKey } from '../../src/keys/key.ts';
import { createBudgets } from '../../src/limits/budgets.ts';
import { createLimits, limitsOfTurns, type LimitedRequest } from '../../src/limits/limits.ts';
import { createMinuteCounter } from '../../src/limits/minutes.ts';
import { createConcurrencySlots } from '../../src/limits/concurrency.ts';
import { openaiFormat } from '../../src/openai/format.ts';
import { parseList } from '../support/structured-fields.ts';

beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse('2026-11-22T23:00:00Z') });
});
afterEach(() => {
  vi.useRealTimers();
});

const keyWith = (limits: KeyLimits, name = 'web-app') => createKey(name, { limits });

interface Sent extends LimitedRequest {
  /** Headers of a successful answer; undefined: nothing limits the request. */
  headers(): LimitHeaders | undefined;
  charge: Charge;
  end(): void;
}

function open({ random = 0, api = limitHeaders } = {}) {
  const refused: string[] = [];
  const limits = createLimits({
    minutes: createMinuteCounter(),
    concurrency: createConcurrencySlots(),
    budgets: createBudgets(),
    onRefused: (_key, policy) => void refused.push(policy),
    random: () => random,
  });
  /** Admits a request; its end is the test's. */
  async function send(key: Key, budget: Budget | 'none' = 'tokens'): Promise<Sent> {
    const cleanups: (() => unknown)[] = [];
    const request = { api: { limitHeaders: api }, atEnd: (cleanup: () => unknown) => cleanups.push(cleanup) };
    const counted = budget === 'none' ? undefined : budget;
    const allowance = await limits.allow(key, counted, request);
    return {
      ...request,
      headers: () => allowance?.headers(),
      charge: (used) => limits.chargeFor(key, counted)?.(used),
      end: () => cleanups.forEach((cleanup) => cleanup()),
    };
  }
  return { send, refused, ofTurns: limitsOfTurns(limits) };
}

async function refusal(sent: Promise<unknown>): Promise<ProblemError> {
  const error: unknown = await sent.then(
    () => new Error('the request was admitted'),
    (reason: unknown) => reason,
  );
  if (error instanceof ProblemError) return error;
  throw error;
}

it('without limits nothing is counted and nothing is sent', async () => {
  const { send } = open();
  expect((await send(keyWith({}))).headers()).toBeUndefined();
  expect((await send(keyWith({ audioMinutesPerDay: 1 }), 'tokens')).headers(), 'another budget').toBeUndefined();
});

describe('requestsPerMinute', () => {
  const key = keyWith({ requestsPerMinute: 60 });

  it('admits 60 in a minute, and refuses the 61st', async () => {
    const { send } = open();
    for (let count = 1; count <= 60; count += 1) await send(key, 'none');
    vi.advanceTimersByTime(47_500);
    const { code, message, headers, violatedPolicies } = await refusal(send(key));
    expect({ code, message, violatedPolicies }).toEqual({
      code: 'rate-limited',
      message: 'The API key may send 60 requests in a minute; try again in 13 s.',
      violatedPolicies: ['requests'],
    });
    expect(headers).toEqual({
      'RateLimit-Policy': '"requests";q=60;w=60',
      RateLimit: '"requests";r=0;t=13',
      'Retry-After': '13',
    });
  });

  it('has the same wait in the message and in Retry-After, with jitter', async () => {
    const { send } = open({ random: 1 });
    const once = keyWith({ requestsPerMinute: 1 });
    await send(once);
    vi.advanceTimersByTime(20_000);
    const { message, headers } = await refusal(send(once));
    expect(headers).toMatchObject({ 'Retry-After': '44', RateLimit: '"requests";r=0;t=40' });
    expect(message).toContain('try again in 44 s.');
  });

  it('is never to be waited for longer than a minute', async () => {
    const { send } = open({ random: 1 });
    const once = keyWith({ requestsPerMinute: 1 });
    await send(once);
    const { message, headers } = await refusal(send(once));
    expect(headers['Retry-After']).toBe('60');
    expect(message).toContain('try again in 60 s.');
  });

  it('is reset when the minute is over', async () => {
    const { send } = open();
    for (let count = 1; count <= 61; count += 1) await send(key).catch(() => undefined);
    vi.advanceTimersByTime(60_000);
    expect((await send(key)).headers()).toMatchObject({ RateLimit: '"requests";r=59;t=60' });
  });

  it('counts each key for itself, and all tokens of a key together', async () => {
    const { send } = open();
    const once = { requestsPerMinute: 1 };
    await send(keyWith(once, 'one'));
    await send(keyWith(once, 'other'));
    await refusal(send(keyWith(once, 'one')));
  });

  it('applies a limit that has changed within the minute', async () => {
    const { send } = open();
    await send(keyWith({ requestsPerMinute: 1 }));
    await refusal(send(keyWith({ requestsPerMinute: 1 })));
    await send(keyWith({ requestsPerMinute: 3 }));
  });

  it('omits the state of the next minute when the answer comes after the end of its own', async () => {
    const { send } = open();
    const late = await send(key);
    vi.advanceTimersByTime(61_000);
    expect(late.headers()).toEqual({ 'RateLimit-Policy': '"requests";q=60;w=60' });
  });
});

describe('concurrentRequests', () => {
  const key = keyWith({ concurrentRequests: 4 });

  it('refuses exactly one of five in parallel, a thousand times', async () => {
    const { send } = open();
    for (let round = 0; round < 1_000; round += 1) {
      const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => send(key)));
      expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(1);
      for (const outcome of outcomes) if (outcome.status === 'fulfilled') outcome.value.end();
    }
  });

  it('rejects exactly one of five, even if requests per minute are counted first', async () => {
    const both = keyWith({ concurrentRequests: 4, requestsPerMinute: 1_000_000 });
    const { send } = open();
    const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => send(both)));
    expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(1);
  });

  it('names the limit, with a Retry-After of one second', async () => {
    const { send } = open();
    for (let count = 1; count <= 4; count += 1) await send(key);
    const { code, message, headers, violatedPolicies } = await refusal(send(key));
    expect({ code, message, violatedPolicies }).toEqual({
      code: 'concurrency-limited',
      message: 'The API key may have 4 requests in flight; wait for the end of one of them.',
      violatedPolicies: ['concurrent'],
    });
    expect(headers).toEqual({
      'RateLimit-Policy': '"concurrent";q=4;qu="concurrent-requests"',
      RateLimit: '"concurrent";r=0',
      'Retry-After': '1',
    });
  });

  it('takes no slot for a rejected request', async () => {
    const { send } = open();
    const one = keyWith({ concurrentRequests: 1, requestsPerMinute: 2 });
    const first = await send(one);
    expect((await refusal(send(one))).code).toBe('concurrency-limited');
    expect((await refusal(send(one))).code, 'the refused ones count in their minute').toBe('rate-limited');
    first.end();
    vi.advanceTimersByTime(60_000);
    await send(one);
  });
});

describe.each([
  ['audioMinutesPerDay', { audioMinutesPerDay: 2 }, 'audio', { audioMs: 60_000 }, 60],
  ['audioMinutesPerDay, of a moment', { audioMinutesPerDay: 2 }, 'audio', { audioMs: 1 }, 120],
  ['tokensPerDay', { tokensPerDay: 120 }, 'tokens', { tokens: 60 }, 60],
  ['tokensPerDay, of one token', { tokensPerDay: 120 }, 'tokens', { tokens: 1 }, 119],
] as const)('%s', (_limit, limits, name, used, left) => {
  const key = keyWith(limits);
  const unit = name === 'audio' ? 'parlance-audio-seconds' : 'parlance-tokens';
  const policy = `"${name}";q=120;qu="${unit}";w=86400`;

  it('is charged with the usage, and the answer has the remaining budget', async () => {
    const { send } = open();
    const sent = await send(key, name);
    expect(sent.headers()).toEqual({ 'RateLimit-Policy': policy, RateLimit: `"${name}";r=120;t=3600` });
    sent.charge(used);
    expect(sent.headers()).toMatchObject({ RateLimit: `"${name}";r=${left};t=3600` });
  });

  it('lets the request that exceeds it finish, and rejects further ones until the end of the day (UTC)', async () => {
    const { send } = open();
    const crossing = await send(key, name);
    const beside = await send(key, name);
    crossing.charge({ audioMs: 500_000, tokens: 500 });
    beside.charge({ audioMs: 500_000, tokens: 500 });
    const { code, message, headers, violatedPolicies } = await refusal(send(key, name));
    expect({ code, violatedPolicies }).toEqual({ code: 'quota-exceeded', violatedPolicies: [name] });
    const amount = name === 'audio' ? '120 s of recordings' : '120 tokens';
    expect(message).toBe(`The API key has used its ${amount} of today (UTC).`);
    expect(headers).toEqual({
      'RateLimit-Policy': policy,
      RateLimit: `"${name}";r=0;t=3600`,
      'Retry-After': '3600',
    });
    await send(key, 'none');
    vi.setSystemTime('2026-11-23T00:00:00Z');
    expect((await send(key, name)).headers()).toMatchObject({ RateLimit: `"${name}";r=120;t=86400` });
  });

  it('counts the rejection of a session, and not that of work which begins early', async () => {
    const { send, refused, ofTurns } = open();
    const require = (options?: { readonly isRequest: boolean }) =>
      runInScope({ caller: key.name, key }, () => ofTurns.requireBudget(name, options));
    const charge = await require();
    charge?.({ audioMs: 500_000, tokens: 500 });
    expect(await refusal(require())).toMatchObject({ code: 'quota-exceeded' });
    expect(refused).toEqual([]);
    expect(await refusal(require({ isRequest: true }))).toMatchObject({ code: 'quota-exceeded' });
    await refusal(send(key, name));
    expect(refused).toEqual([name, name]);
  });
});

describe('the fields', () => {
  const key = keyWith({ requestsPerMinute: 60, concurrentRequests: 4, audioMinutesPerDay: 120, tokensPerDay: 500_000 });

  it('have every limit of the key that applies to the operation, as RFC 9651 writes lists', async () => {
    const { send } = open();
    const { 'RateLimit-Policy': policies, RateLimit: state } = (await send(key, 'audio')).headers() ?? {};
    expect(parseList(policies!)).toEqual([
      { value: 'requests', parameters: { q: 60, w: 60 } },
      { value: 'concurrent', parameters: { q: 4, qu: 'concurrent-requests' } },
      { value: 'audio', parameters: { q: 7200, qu: 'parlance-audio-seconds', w: 86_400 } },
    ]);
    expect(parseList(state!)).toEqual([
      { value: 'requests', parameters: { r: 59, t: 60 } },
      { value: 'concurrent', parameters: { r: 3 } },
      { value: 'audio', parameters: { r: 7200, t: 3600 } },
    ]);
    const others = await Promise.all([send(key, 'tokens'), send(key, 'none')]);
    const names = others.map((sent) => parseList(sent.headers()!.RateLimit!).map(({ value }) => value));
    expect(names).toEqual([
      ['requests', 'concurrent', 'tokens'],
      ['requests', 'concurrent'],
    ]);
  });

  it('of a refusal show the limit that refuses: Retry-After is never earlier than its reset', async () => {
    const { send } = open();
    for (let count = 1; count <= 4; count += 1) await send(key);
    const { headers } = await refusal(send(key));
    expect(headers.RateLimit).toBe('"concurrent";r=0');
    expect(parseList(headers['RateLimit-Policy']!)).toHaveLength(3);
  });

  it.each([
    [keyWith({ requestsPerMinute: 1 }), 60, 60],
    [keyWith({ tokensPerDay: 1 }), 3_600, 3_660],
  ])('Retry-After has up to 10 %% more, a minute at most, within the window', async (limited, earliest, latest) => {
    for (const [random, expected] of [[0, earliest] as const, [0.999, latest] as const]) {
      const { send } = open({ random });
      (await send(limited)).charge({ tokens: 1 });
      expect((await refusal(send(limited))).headers['Retry-After']).toBe(String(expected));
    }
  });

  it('under /v1 are also those of OpenAI, for requests only', async () => {
    const { send } = open({ api: openaiFormat.limitHeaders });
    const headers = (await send(key)).headers() ?? {};
    expect(headers).toMatchObject({
      'x-ratelimit-limit-requests': '60',
      'x-ratelimit-remaining-requests': '59',
      'x-ratelimit-reset-requests': '60s',
    });
    expect(Object.keys(headers).filter((header) => header.startsWith('x-'))).toHaveLength(3);
    expect((await send(keyWith({ concurrentRequests: 1 }, 'other'))).headers()).not.toHaveProperty(
      'x-ratelimit-limit-requests',
    );
  });
});
