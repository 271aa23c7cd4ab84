/** Callers with weights in one queue: shares, places in the line, who is pushed out, Retry-After. */
import fc from '../../support/fast-check.ts';
import { describe, expect, it } from 'vitest';
import { EngineError, type CallQueue, type CallQueueOptions } from '../../../engines/contract/index.ts';
import { runInScope } from '../../../src/request-scope.ts';
import { createQueue } from '../../../src/engine-host/scheduling/call-queue.ts';
import {
  createFairScheduler,
  endCall,
  queueOf,
  startCall,
} from '../../../src/engine-host/scheduling/fair-scheduler.ts';
import { createKey } from '../../../src/keys/key.ts';

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
const { signal } = new AbortController();

function runOf<T>(
  queue: CallQueue,
  caller: string,
  weight: number,
  job: () => Promise<T>,
  onQueued?: Queued,
): Promise<T> {
  const listener = { signal, ...(onQueued && { onQueued }) };
  return runInScope({ caller, key: createKey(caller, { weight }) }, () => queue.run(job, listener));
}

type Queued = (ahead: number | null) => void;

interface Greedy {
  readonly slots: number;
  readonly weights: readonly number[];
  /** Milliseconds of each job, in turn. */
  readonly jobMs: readonly number[];
}

/** Each caller keeps ten jobs in the queue; returns how many of each have started among the first 600. */
async function shares({ slots, weights, jobMs }: Greedy): Promise<number[]> {
  let clock = 0;
  let begun = 0;
  const started = weights.map(() => 0);
  const ends: { readonly at: number; end(): void }[] = [];
  const queue = createQueue({ slots, waiting: 100 }, () => clock);
  const ask = (index: number): void => {
    const job = () => {
      const { promise, resolve } = Promise.withResolvers<undefined>();
      ends.push({ at: clock + (jobMs[begun++ % jobMs.length] ?? 0), end: () => resolve(undefined) });
      started[index]! += 1;
      ask(index);
      return promise;
    };
    void runOf(queue, String(index), weights[index]!, job);
  };
  weights.forEach((_weight, index) => Array.from({ length: 10 }, () => ask(index)));
  await settle();
  while (begun < 600) {
    const [next] = ends.sort((one, other) => one.at - other.at).splice(0, 1);
    clock = next?.at ?? clock;
    next?.end();
    await settle();
  }
  return started;
}

describe('callers that always wait share the jobs by weight', () => {
  it.each([
    { slots: 1, weights: [2, 1] },
    { slots: 2, weights: [2, 1] },
    { slots: 3, weights: [2, 1] },
    { slots: 4, weights: [2, 1] },
    { slots: 1, weights: [1, 2] },
    { slots: 2, weights: [6, 3] },
    { slots: 2, weights: [3, 2] },
    { slots: 2, weights: [1, 0.5] },
    { slots: 2, weights: [1, 1, 4] },
    { slots: 1, weights: [1, 1] },
  ])('$slots slots, weights $weights', async ({ slots, weights }) => {
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    for (const jobMs of [[1_000], [1_000, 600, 1_400, 800, 1_200, 1_000, 900]]) {
      const started = await shares({ slots, weights, jobMs });
      const jobs = started.reduce((sum, count) => sum + count, 0);
      weights.forEach((weight, index) => {
        const share = started[index]! / jobs / (weight / total);
        expect(share, `caller ${index} of ${String(started)}`).toBeGreaterThan(0.9);
        expect(share, `caller ${index} of ${String(started)}`).toBeLessThan(1.1);
      });
    }
  });
});

it('predicts the places of waiting jobs by weight', async () => {
  const arrivals = fc.array(fc.constantFrom('a', 'a', 'b', 'c'), { minLength: 1, maxLength: 12 });
  const weights = fc.record({ a: fc.constantFrom(1, 2, 0.5), b: fc.constantFrom(1, 3), c: fc.constantFrom(1, 4) });
  await fc.assert(
    fc.asyncProperty(arrivals, weights, fc.integer({ min: 1, max: 3 }), async (callers, weightOf, slots) => {
      const queue = createQueue({ slots, waiting: 12 }, () => 0);
      const running: (() => void)[] = [];
      const started: number[] = [];
      const places = new Map<number, number | null>();
      for (const [job, caller] of callers.entries()) {
        const work = () => {
          started.push(job);
          return new Promise<void>((resolve) => running.push(resolve));
        };
        void runOf(queue, caller, weightOf[caller as 'a'], work, (ahead) => {
          if (!places.has(job)) places.set(job, ahead);
        });
      }
      await settle();
      const atOnce = started.length;
      const predicted = [...places].toSorted(([, one], [, other]) => Number(one) - Number(other)).map(([job]) => job);
      for (let end = running.shift(); end; end = running.shift()) {
        end();
        await settle();
      }
      expect(started.slice(atOnce)).toEqual(predicted);
    }),
    { numRuns: 200 },
  );
});

it('gives a caller that sends one job after the other no more than its share', async () => {
  const queue = createQueue({ slots: 1, waiting: 20 }, () => 0);
  const started: string[] = [];
  let end = (): void => undefined;
  const ask = (caller: string, weight: number): void => {
    const job = () => {
      started.push(caller);
      const { promise, resolve } = Promise.withResolvers<undefined>();
      end = () => resolve(undefined);
      if (caller === 'greedy') ask(caller, weight);
      return promise;
    };
    void runOf(queue, caller, weight, job).then(() => caller === 'sequential' && ask(caller, weight));
  };
  for (let count = 0; count < 5; count += 1) ask('greedy', 4);
  ask('sequential', 1);
  while (started.length < 100) {
    await settle();
    end();
  }
  expect(started.filter((caller) => caller === 'sequential').length).toBeGreaterThanOrEqual(18);
  expect(started.filter((caller) => caller === 'sequential').length).toBeLessThanOrEqual(21);
});

it('remembers a bounded number of callers', () => {
  const turns = createFairScheduler<never>(2);
  startCall(turns, queueOf(turns, 'busy', 1));
  for (let count = 0; count < 1_000; count += 1) {
    const line = queueOf(turns, String(count), 1);
    startCall(turns, line);
    endCall(turns, line);
  }
  expect(turns.queues.size).toBeLessThanOrEqual(100);
  endCall(turns, turns.queues.get('busy')!);
  expect(turns.queues.size).toBe(0);
});

describe('a full queue', () => {
  function open(options: CallQueueOptions, weights: Readonly<Record<string, number>>) {
    let clock = 0;
    const queue = createQueue(options, () => clock);
    return {
      /** "waits", or the Retry-After of its refusal. */
      add: (caller: string): Promise<string | number> => {
        const outcome = runOf(queue, caller, weights[caller] ?? 1, () => new Promise<never>(() => undefined));
        const refused = outcome.catch((error: unknown) => {
          if (EngineError.is(error) && error.code === 'overloaded') return error.retryAfter ?? 0;
          throw error;
        });
        return Promise.race([refused, settle().then(() => 'waits')]);
      },
      wait: (ms: number) => void (clock += ms),
    };
  }

  it('keeps the lines in the proportion of the weights', async () => {
    const { add } = open({ slots: 1, waiting: 6 }, { light: 1, heavy: 2 });
    for (let count = 0; count < 7; count += 1) expect(await add('light')).toBe('waits');
    const heavy = [];
    for (let count = 0; count < 6; count += 1) heavy.push(await add('heavy'));
    expect(heavy).toEqual(['waits', 'waits', 'waits', 'waits', expect.any(Number), expect.any(Number)]);
  });

  it('always has a place for a caller without jobs, however small its weight', async () => {
    const { add } = open({ slots: 1, waiting: 2 }, { heavy: 100 });
    for (let count = 0; count < 3; count += 1) expect(await add('heavy')).toBe('waits');
    expect(await add('light')).toBe('waits');
  });

  it('does not push out the only job of a caller, however large the weight of another', async () => {
    const { add } = open({ slots: 1, waiting: 2 }, { heavy: 100 });
    expect(await add('holder')).toBe('waits');
    expect(await add('one')).toBe('waits');
    expect(await add('two')).toBe('waits');
    expect(await add('heavy')).toEqual(expect.any(Number));
  });

  it('estimates Retry-After by the turns that others have meanwhile', async () => {
    const { add, wait } = open({ slots: 1, waiting: 4 }, { heavy: 2 });
    for (let count = 0; count < 5; count += 1) expect(await add('heavy')).toBe('waits');
    wait(10_000);
    expect(await add('heavy'), 'four of its own and this one').toBe(50);
    expect(await add('light')).toBe('waits');
    expect(await add('light'), 'two of its own, all three of heavy').toBe(50);
  });
});
