/** The limits of keys over two fronts, with and without Redis. */
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { shareKeyLimits } from '../../src/fleet/key-limits.ts';
import type { KeyCounters } from '../../src/fleet/redis-counters.ts';
import { createBudgets, type Total } from '../../src/limits/budgets.ts';
import { createMinuteCounter } from '../../src/limits/minutes.ts';

beforeEach(() => void vi.useFakeTimers({ now: Date.parse('2026-11-22T23:00:00Z') }));
afterEach(() => void vi.useRealTimers());

const none = { audioMs: 0, tokens: 0 };

/** As Redis counts. */
function startRedis() {
  const minutes = new Map<string, number>();
  const concurrency = new Map<string, Set<string>>();
  const days = new Map<string, Total>();
  const state = { isReady: true, hangs: false, asked: 0 };
  const placesOf = (key: string) => concurrency.get(key) ?? concurrency.set(key, new Set()).get(key)!;
  async function answer<T>(work: () => T): Promise<T> {
    state.asked += 1;
    if (state.hangs) await new Promise((resolve) => setTimeout(resolve, 2_000));
    if (state.hangs || !state.isReady) throw new Error('Redis did not answer');
    return work();
  }
  const counters: KeyCounters = {
    countRequest: (key) =>
      answer(() => {
        minutes.set(key, (minutes.get(key) ?? 0) + 1);
        return { used: minutes.get(key)!, endsInMs: 60_000 };
      }),
    takeSlot: (key, id, most) =>
      answer(() => {
        const all = placesOf(key);
        const taken = all.size < most;
        if (taken) all.add(id);
        return { taken, used: all.size };
      }),
    keepSlots: (key, ids) =>
      answer(() => {
        for (const id of ids) placesOf(key).add(id);
        return placesOf(key).size;
      }),
    releaseSlot: (key, id) =>
      answer(() => {
        placesOf(key).delete(id);
        return placesOf(key).size;
      }),
    charge: (key, day, added, atLeast) =>
      answer(() => {
        const { audioMs, tokens } = days.get(`${day} ${key}`) ?? none;
        const total = {
          audioMs: Math.max(audioMs + added.audioMs, atLeast.audioMs),
          tokens: Math.max(tokens + added.tokens, atLeast.tokens),
        };
        days.set(`${day} ${key}`, total);
        return total;
      }),
    probe: () => answer(() => undefined),
  };
  const forget = () => [minutes, concurrency, days].forEach((kept) => kept.clear());
  return { counters, state, forget, minutes, days };
}

function openFronts() {
  const redis = startRedis();
  const logged: string[] = [];
  const log = { info: (_facts: object, text: string) => logged.push(text), warn: (_facts: object, text: string) => logged.push(text) }; // prettier-ignore
  const open = () => {
    const front = shareKeyLimits({
      own: { minutes: createMinuteCounter(), budgets: createBudgets() },
      counters: redis.counters,
      fronts: () => 2,
      secret: 'secret',
      timeouts: { announceMs: 5_000, announcedMs: 15_000, reconcileMs: 1_000 },
      log: log as unknown as Parameters<typeof shareKeyLimits>[0]['log'],
    });
    onTestFinished(() => front[Symbol.dispose]());
    return front;
  };
  return { ...redis, logged, open, fronts: [open(), open()] as const };
}

/** How many of so many requests, sent to both in turn, are within the limit. */
async function passing(fronts: ReturnType<typeof openFronts>['fronts'], sent: number, most: number, key = 'web') {
  const minutes = await Promise.all(
    Array.from({ length: sent }, (_, index) => fronts[index % 2]!.minutes.count(key, most)),
  );
  return minutes.filter(({ used }) => used <= most).length;
}

const settled = () => vi.advanceTimersByTimeAsync(0);

describe('requests in a minute', () => {
  it('count over both fronts', async () => {
    const { fronts } = openFronts();
    expect(await passing(fronts, 20, 10)).toBe(10);
  });

  it('are divided between the fronts while Redis is unavailable, which is logged once', async () => {
    const { fronts, state, logged } = openFronts();
    state.isReady = false;
    expect(await passing(fronts, 20, 10)).toBe(10);
    expect(await passing(fronts, 9, 7, 'other')).toBe(6);
    expect(await passing(fronts, 20, 1, 'third'), 'one for each front at least').toBe(2);
    const away = 'API key limits are counted per node: Redis is unavailable';
    expect(logged).toEqual([away, away]);
    state.isReady = true;
    await vi.advanceTimersByTimeAsync(1_000);
    const back = 'API key limits are shared by all fronts again';
    expect(logged.slice(2)).toEqual([back, back]);
    expect(await passing(fronts, 20, 10, 'after')).toBe(10);
  });

  it('show the remaining share of this front while Redis is unavailable', async () => {
    const { fronts, state } = openFronts();
    state.isReady = false;
    expect((await fronts[0].minutes.count('web', 10)).used).toBe(6);
  });

  it('made before an outage of Redis count during it', async () => {
    const { fronts, state } = openFronts();
    expect(await passing([fronts[0], fronts[0]], 4, 10)).toBe(4);
    state.isReady = false;
    expect(await passing([fronts[0], fronts[0]], 4, 10)).toBe(1);
  });

  it('wait for a hanging Redis once, until its timeout', async () => {
    const { fronts, state } = openFronts();
    state.hangs = true;
    const first = fronts[0].minutes.count('web', 10);
    await vi.advanceTimersByTimeAsync(2_000);
    await first;
    const { asked } = state;
    await fronts[0].minutes.count('web', 10);
    expect(state.asked).toBe(asked);
  });
});

describe('requests in flight', () => {
  const take = (front: { concurrency: { take(key: string, most: number): unknown } }) =>
    front.concurrency.take('web', 3);

  it('count over both fronts', async () => {
    const { fronts } = openFronts();
    const [one, other] = fronts;
    expect(await Promise.all([one, other, one, other].map(take))).toEqual([true, true, true, false]);
    expect(other.concurrency.used('web', 3)).toBe(3);
    one.concurrency.release('web');
    await settled();
    expect(await take(other)).toBe(true);
  });

  it('are divided between the fronts while Redis is unavailable, and count together when it is back', async () => {
    const { fronts, state } = openFronts();
    const [one, other] = fronts;
    state.isReady = false;
    expect(await Promise.all([one, one, other, other].map(take))).toEqual([true, false, true, false]);
    expect(one.concurrency.used('web', 3), 'two parts are not for this front').toBe(3);
    state.isReady = true;
    await vi.advanceTimersByTimeAsync(6_000);
    expect(await Promise.all([one, other].map(take))).toEqual([true, false]);
  });

  it('are renewed in Redis while they last', async () => {
    const { fronts, forget } = openFronts();
    const [one, other] = fronts;
    await Promise.all([one, one, one].map(take));
    forget();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await take(other)).toBe(false);
  });
});

describe('daily budgets', () => {
  const day = { audioMs: 500, tokens: 10 };

  it('are charged for both fronts', async () => {
    const { fronts } = openFronts();
    const [one, other] = fronts;
    one.budgets.charge('web', day);
    other.budgets.charge('web', { tokens: 5 });
    await Promise.all(fronts.map(({ budgets }) => budgets.refresh!('web')));
    for (const { budgets } of fronts) expect(budgets.used('web')).toEqual({ audioMs: 500, tokens: 15 });
  });

  it('include charges made during an outage of Redis', async () => {
    const { fronts, state } = openFronts();
    const [one, other] = fronts;
    one.budgets.charge('web', day);
    await other.budgets.refresh!('web');
    state.isReady = false;
    one.budgets.charge('web', day);
    one.budgets.charge('web', day);
    other.budgets.charge('web', day);
    await settled();
    expect([one, other].map(({ budgets }) => budgets.used('web').tokens)).toEqual([30, 20]);
    state.isReady = true;
    await vi.advanceTimersByTimeAsync(1_000);
    await Promise.all(fronts.map(({ budgets }) => budgets.refresh!('web')));
    for (const { budgets } of fronts) expect(budgets.used('web')).toEqual({ audioMs: 2_000, tokens: 40 });
  });

  it('use the larger count, whether Redis or the front has lost its own', async () => {
    const { fronts, forget, open } = openFronts();
    const [one] = fronts;
    one.budgets.charge('web', day);
    await settled();
    forget();
    await one.budgets.refresh!('web');
    const restarted = open();
    await restarted.budgets.refresh!('web');
    expect(restarted.budgets.used('web')).toEqual(day);
  });

  it('are reset every day', async () => {
    const { fronts, days } = openFronts();
    const [one, other] = fronts;
    one.budgets.charge('web', day);
    await settled();
    vi.setSystemTime('2026-11-23T00:00:01Z');
    await other.budgets.refresh!('web');
    expect(other.budgets.used('web')).toEqual(none);
    expect([...days.keys()].map((key) => key.slice(0, 10))).toEqual(['2026-11-22', '2026-11-23']);
  });
});
