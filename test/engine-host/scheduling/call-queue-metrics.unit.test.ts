/** What a job queue reports: its state, how long jobs waited, why it refused some. */
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { EngineError } from '../../../engines/contract/index.ts';
import { runInScope, type RequestScope } from '../../../src/request-scope.ts';
import { createQueue } from '../../../src/engine-host/scheduling/call-queue.ts';
import type { QueueState } from '../../../src/metrics/metrics.ts';

function observed(slots: number, waiting: number) {
  let clock = 0;
  let state: (() => QueueState) | undefined;
  const waits: number[] = [];
  const refusals: string[] = [];
  const queue = createQueue({ slots, waiting }, () => clock, (read) => {
    state = read;
    return { started: (ms) => void waits.push(ms), refused: (reason) => void refusals.push(reason) };
  }); // prettier-ignore
  /** A job that ends when it is told to. */
  const add = (caller: string, scope: RequestScope = { caller, usage: {} }) => {
    const work = Promise.withResolvers<undefined>();
    const controller = new AbortController();
    const outcome = runInScope(scope, () => queue.run(() => work.promise, { signal: controller.signal })).then(
      () => 'done',
      (error: unknown) => (EngineError.is(error) ? error.code : 'aborted'),
    );
    return {
      outcome,
      finish: () => work.resolve(undefined),
      abort: (reason: unknown) => controller.abort(reason),
      usage: scope.usage,
    };
  };
  /** After the jobs that can start have started. */
  const pass = async (ms: number) => {
    await setImmediate();
    clock += ms;
  };
  return { add, waits, refusals, state: () => state?.(), pass };
}

describe('a job queue', () => {
  it('reports how long each job waited, also to the usage of its request', async () => {
    const { add, waits, state, pass } = observed(1, 2);
    const [first, second] = [add('a'), add('a')];
    expect(state()).toEqual({ slots: 1, running: 1, waiting: 1 });
    await pass(250);
    first.finish();
    expect(await first.outcome).toBe('done');
    second.finish();
    expect(await second.outcome).toBe('done');
    expect(waits).toEqual([0, 250]);
    expect([first.usage, second.usage]).toEqual([{ queueMs: 0 }, { queueMs: 250 }]);
    expect(state()).toEqual({ slots: 1, running: 0, waiting: 0 });
  });

  it('adds up the time of several jobs of a request', async () => {
    const { add, pass } = observed(1, 2);
    const scope = { caller: 'a', usage: {} };
    const jobs = [add('a', scope), add('a', scope), add('a', scope)];
    for (const job of jobs) {
      await pass(100);
      job.finish();
      await job.outcome;
    }
    expect(scope.usage).toEqual({ queueMs: 300 });
  });

  it('reports refusals: full, pushed out by another caller, timed out while waiting', async () => {
    const { add, refusals } = observed(1, 2);
    const [running, waiting, newest] = [add('a'), add('a'), add('a')];
    expect(await add('a').outcome).toBe('overloaded');
    expect(refusals).toEqual(['full']);
    const other = add('b');
    expect(await newest.outcome).toBe('overloaded');
    expect(refusals).toEqual(['full', 'pushed_out']);
    waiting.abort(new EngineError('engine-timeout', 'late'));
    expect(await waiting.outcome).toBe('overloaded');
    expect(refusals).toEqual(['full', 'pushed_out', 'deadline']);
    for (const job of [running, other]) job.finish();
    expect(await other.outcome).toBe('done');
  });

  it('does not report jobs whose caller has left as refused', async () => {
    const { add, refusals } = observed(1, 2);
    const [running, waiting] = [add('a'), add('a')];
    waiting.abort(new Error('gone'));
    expect(await waiting.outcome).toBe('aborted');
    running.finish();
    expect(await running.outcome).toBe('done');
    expect(refusals).toEqual([]);
  });
});
