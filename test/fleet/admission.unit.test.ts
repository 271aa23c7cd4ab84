import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { createAdmissions } from '../../src/fleet/admission.ts';
import type { OpenCallCounts, OpenCallKey } from '../../src/fleet/redis.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Four slots and eight places to wait, and sets as Redis keeps them. */
function start() {
  const open = new Map<string, string>();
  const hold = vi.fn(({ id, caller }: OpenCallKey): Promise<OpenCallCounts> => {
    open.set(id, caller);
    const callers = [...open.values()];
    const ofCaller = callers.filter((one) => one === caller).length;
    return Promise.resolve({ calls: open.size, ofCaller, callers: new Set(callers).size });
  });
  const shares = createAdmissions({
    redis: { keepOpen: hold, release: ({ id }) => Promise.resolve(void open.delete(id)) },
    nodes: { capacityOf: () => ({ slots: 4, meanMs: 2_000 }) },
    consumers: { waitingOf: () => 8 },
    secret: 'secret',
    timeouts: { announceMs: 5_000, announcedMs: 15_000 },
  });
  onTestFinished(() => shares[Symbol.dispose]());
  let calls = 0;
  const take = (caller: string, weight = 1) =>
    shares.admit({ id: String((calls += 1)), instance: 'local', caller, weight });
  /** How many of so many calls are accepted. */
  const takeMany = async (caller: string, count: number) => {
    const taken = await Promise.allSettled(Array.from({ length: count }, () => take(caller)));
    return taken.filter(({ status }) => status === 'fulfilled').length;
  };
  return { take, takeMany, open, hold, shares };
}

it('a single caller may have as many open calls as slots and places in the queue', async () => {
  const { takeMany } = start();
  expect(await takeMany('a', 20)).toBe(12);
});

it('every new caller is admitted, and shares shrink', async () => {
  const { takeMany } = start();
  const accepted = [];
  for (const caller of ['a', 'b', 'c', 'd']) accepted.push(await takeMany(caller, 20));
  expect(accepted).toEqual([12, 8, 6, 4]);
});

it('rejected calls get a Retry-After and are not counted', async () => {
  const { take, takeMany, open } = start();
  await takeMany('a', 12);
  await expect(take('a')).rejects.toMatchObject({ code: 'overloaded', retryAfter: 7 });
  expect(open.size).toBe(12);
});

it('the queue is full when all slots and places are taken, until a call ends', async () => {
  const { take, takeMany, shares, open } = start();
  await takeMany('a', 11);
  expect(shares.isFull('local')).toBe(false);
  const last = await take('a');
  expect(shares.isFull('local')).toBe(true);
  expect(shares.isFull('other')).toBe(false);
  await expect(take('a')).rejects.toMatchObject({ code: 'overloaded' });
  expect(shares.isFull('local')).toBe(true);
  last[Symbol.dispose]();
  expect(shares.isFull('local')).toBe(false);

  for (const id of ['x', 'y']) open.set(id, 'of another front');
  await vi.advanceTimersByTimeAsync(5_000);
  expect(shares.isFull('local')).toBe(true);
});

it('the n-th call of a caller has the priority n', async () => {
  const { take } = start();
  const priorities = [];
  for (const caller of ['a', 'a', 'a', 'b', 'a', 'b']) priorities.push((await take(caller)).priority);
  expect(priorities).toEqual([1, 2, 3, 1, 4, 2]);
});

it('a caller of weight 2 has the share and the priorities of two', async () => {
  const { take, takeMany } = start();
  const priorities = [];
  for (let call = 0; call < 4; call++) priorities.push((await take('heavy', 2)).priority);
  expect(priorities).toEqual([1, 1, 2, 2]);
  await takeMany('a', 1);
  const more = await Promise.allSettled(Array.from({ length: 20 }, () => take('heavy', 2)));
  expect(more.filter(({ status }) => status === 'fulfilled')).toHaveLength(12 - 4);
});

it('an open call is held in Redis under a pseudonym of its caller', async () => {
  const { take, open, hold } = start();
  const share = await take('the key of a team');
  expect([...open.values()]).toEqual([expect.stringMatching(/^[\w-]{22}$/)]);
  open.clear(); // Redis has forgotten everything
  await vi.advanceTimersByTimeAsync(5_000);
  expect(open.size).toBe(1);
  share[Symbol.dispose]();
  await vi.advanceTimersByTimeAsync(20_000);
  expect(open.size).toBe(0);
  expect(hold).toHaveBeenCalledTimes(2);
});
