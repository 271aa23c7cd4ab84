/** The queue's promises, for any order of arrivals, ends and disconnects. */
import fc from '../../support/fast-check.ts';
import { expect, it } from 'vitest';
import { EngineError, type CallQueueOptions } from '../../../engines/contract/index.ts';
import { runInScope } from '../../../src/request-scope.ts';
import { createQueue } from '../../../src/engine-host/scheduling/call-queue.ts';

const callers = ['', 'a', 'b', 'c'] as const;

type Step =
  | { readonly does: 'arrive'; readonly caller: string }
  | { readonly does: 'end'; readonly which: number; readonly fails: boolean }
  | { readonly does: 'leave'; readonly which: number; readonly late: boolean };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ does: fc.constant('arrive'), caller: fc.constantFrom(...callers, 'a', 'a', 'a') }),
  },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('end'), which: fc.nat(), fails: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('leave'), which: fc.nat(), late: fc.boolean() }) },
);

const size = fc.record({ slots: fc.integer({ min: 1, max: 3 }), waiting: fc.integer({ min: 0, max: 10 }) });

interface Job {
  readonly caller: string;
  starts: number;
  outcomes: ('done' | 'failed' | 'left' | 'overloaded')[];
  /** Jobs of others that have started while this was the first of a caller without a slot. */
  overtaken: number;
  end(fails: boolean): void;
  leave(late: boolean): void;
}

const failure = new Error('the job failed');
const left = new Error('the caller has left');
const late = new EngineError('engine-timeout', 'It was not done in time.');
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

function open(options: CallQueueOptions) {
  let clock = 0;
  const queue = createQueue(options, () => (clock += 10));
  const jobs: Job[] = [];
  const outOfOrder: Job[] = [];
  const running = () => jobs.filter(({ starts, outcomes }) => starts > 0 && outcomes.length === 0);
  const waiting = () => jobs.filter(({ starts, outcomes }) => starts === 0 && outcomes.length === 0);
  const firstOf = (caller: string) => waiting().find((job) => job.caller === caller);

  function noteStart(job: Job): void {
    if (firstOf(job.caller) !== job) outOfOrder.push(job);
    for (const caller of callers) {
      const first = firstOf(caller);
      if (first && caller !== job.caller && !running().some((one) => one.caller === caller)) first.overtaken += 1;
    }
    job.starts += 1;
  }

  function arrive(caller: string): void {
    const work = Promise.withResolvers<undefined>();
    const controller = new AbortController();
    const job: Job = {
      ...{ caller, starts: 0, outcomes: [], overtaken: 0 },
      end: (fails) => (fails ? work.reject(failure) : work.resolve(undefined)),
      leave: (isLate) => controller.abort(isLate ? late : left),
    };
    const run = () => {
      noteStart(job);
      return work.promise;
    };
    jobs.push(job);
    runInScope({ caller }, () => queue.run(run, controller)).then(
      () => job.outcomes.push('done'),
      (error: unknown) => job.outcomes.push(error === failure ? 'failed' : error === left ? 'left' : nameOf(error)),
    );
  }

  function take(one: Step): void {
    if (one.does === 'arrive') return arrive(one.caller);
    const among = one.does === 'end' ? running() : waiting();
    const job = among[one.which % (among.length || 1)];
    if (one.does === 'end') job?.end(one.fails);
    else job?.leave(one.late);
  }

  function check(): void {
    expect(running().length).toBeLessThanOrEqual(options.slots);
    expect(waiting().length).toBeLessThanOrEqual(options.waiting);
    if (waiting().length > 0) expect(running(), 'no slot is idle while a job waits').toHaveLength(options.slots);
    expect(queue.full).toBe(running().length === options.slots && waiting().length === options.waiting);
    for (const { starts, outcomes } of jobs) {
      expect(outcomes.length).toBeLessThanOrEqual(1);
      expect(starts).toBeLessThanOrEqual(1);
      const [outcome] = outcomes;
      if (outcome !== undefined) expect(starts).toBe(outcome === 'done' || outcome === 'failed' ? 1 : 0);
    }
  }

  /** Holds only where one thing happens at a time: what happens at once is noted later than it happens. */
  function checkOrder(): void {
    expect(outOfOrder, 'first in, first out within a caller').toEqual([]);
    for (const { overtaken } of jobs) expect(overtaken, 'once by each of the others').toBeLessThan(callers.length);
  }

  return { jobs, running, take, check, checkOrder };
}

function nameOf(error: unknown): 'overloaded' {
  const { code, retryAfter = 0 } = error as EngineError;
  expect(code).toBe('overloaded');
  expect(retryAfter).toBeGreaterThanOrEqual(1);
  expect(retryAfter).toBeLessThanOrEqual(3_600);
  return 'overloaded';
}

it('runs each job once or rejects it once, within its bounds, and lets no caller starve', async () => {
  await fc.assert(
    fc.asyncProperty(size, fc.array(step, { maxLength: 80 }), async (options, steps) => {
      const { jobs, running, take, check, checkOrder } = open(options);
      for (const one of steps) {
        take(one);
        await settle();
        check();
        checkOrder();
      }
      while (running().length > 0) {
        running()[0]?.end(false);
        await settle();
        check();
        checkOrder();
      }
      expect(jobs.map(({ outcomes }) => outcomes.length)).toEqual(jobs.map(() => 1));
    }),
    { numRuns: 200 },
  );
});

it('stays within its bounds when several things happen at once', async () => {
  await fc.assert(
    fc.asyncProperty(size, fc.array(fc.array(step, { maxLength: 8 }), { maxLength: 12 }), async (options, rounds) => {
      const { jobs, running, take, check } = open(options);
      for (const round of rounds) {
        round.forEach(take);
        await settle();
        check();
      }
      while (running().length > 0) {
        running().forEach((job) => job.end(true));
        await settle();
        check();
      }
      expect(jobs.map(({ outcomes }) => outcomes.length)).toEqual(jobs.map(() => 1));
    }),
    { numRuns: 200 },
  );
});
