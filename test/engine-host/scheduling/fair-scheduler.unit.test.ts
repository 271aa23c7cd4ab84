/** The order in which a line is served, predicted. */
import fc from '../../support/fast-check.ts';
import { expect, it } from 'vitest';
import { runInScope } from '../../../src/request-scope.ts';
import { createQueue } from '../../../src/engine-host/scheduling/call-queue.ts';
import { createFairScheduler, servingOrder } from '../../../src/engine-host/scheduling/fair-scheduler.ts';

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

it('is empty for an empty line', () => {
  expect(servingOrder(createFairScheduler(1), [])).toEqual([]);
});

it('is the order in which jobs start when no other comes and the running ones end in the order of their start', async () => {
  const arrivals = fc.array(fc.constantFrom('a', 'a', 'b', 'c'), { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(arrivals, fc.integer({ min: 1, max: 3 }), async (callers, slots) => {
      const queue = createQueue({ slots, waiting: 12 }, () => 0);
      const running: (() => void)[] = [];
      const started: number[] = [];
      const first = new Map<number, number | null>();
      const { signal } = new AbortController();
      for (const [job, caller] of callers.entries()) {
        const work = () => {
          started.push(job);
          return new Promise<void>((resolve) => running.push(resolve));
        };
        const onQueued = (ahead: number | null) => {
          if (!first.has(job)) first.set(job, ahead);
        };
        void runInScope({ caller }, () => queue.run(work, { signal, onQueued }));
      }
      await settle();
      const predicted = [...first].toSorted(([, a], [, b]) => Number(a) - Number(b)).map(([job]) => job);
      const atOnce = started.length;
      for (let end = running.shift(); end; end = running.shift()) {
        end();
        await settle();
      }
      expect(started.slice(atOnce)).toEqual(predicted);
      expect(predicted).toHaveLength(Math.max(0, callers.length - slots));
    }),
    { numRuns: 100 },
  );
});
