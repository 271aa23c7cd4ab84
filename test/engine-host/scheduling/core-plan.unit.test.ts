/** Threads of jobs that share this machine's cores. */
import { describe, expect, it } from 'vitest';
import { createCorePlan, grantThreads } from '../../../src/engine-host/scheduling/call-queue.ts';

/** Starts so many jobs at once; the threads of each. */
async function threadsOf(cores: number, slots: number, jobs: number): Promise<number[]> {
  const granted = grantThreads({ slots, waiting: 0, threads: 'shared' }, createCorePlan(cores));
  const end = Promise.withResolvers<undefined>();
  const seen: number[] = [];
  const running = Array.from({ length: jobs }, () =>
    granted(({ threads = 0 }) => {
      seen.push(threads);
      return end.promise;
    }),
  );
  end.resolve(undefined);
  await Promise.all(running);
  return seen;
}

describe('the core plan', () => {
  it.each([
    { cores: 2, slots: 1, jobs: 1, threads: [2] },
    { cores: 8, slots: 1, jobs: 1, threads: [8] },
    { cores: 8, slots: 4, jobs: 1, threads: [4] },
    { cores: 8, slots: 4, jobs: 4, threads: [4, 2, 1, 1] },
    { cores: 4, slots: 4, jobs: 4, threads: [1, 1, 1, 1] },
    { cores: 1, slots: 3, jobs: 3, threads: [1, 1, 1] },
  ])('gives $jobs jobs of $slots slots on $cores cores $threads threads', async ({ cores, slots, jobs, threads }) => {
    expect(await threadsOf(cores, slots, jobs)).toEqual(threads);
  });

  it.each([2, 3, 4, 6, 8, 16, 64])('never has more threads than cores in its slots (%i cores)', async (cores) => {
    for (let slots = 1; slots <= cores; slots++) {
      const threads = await threadsOf(cores, slots, slots);
      expect(threads.reduce((sum, count) => sum + count)).toBeLessThanOrEqual(cores);
    }
  });

  it('counts the jobs of all queues', async () => {
    const cores = createCorePlan(8);
    using _other = cores.hold(6);
    const granted = grantThreads({ slots: 1, waiting: 0, threads: 'shared' }, cores);
    expect(await granted((grant) => Promise.resolve(grant.threads))).toBe(2);
  });

  it('gives the threads back, also after a failure', async () => {
    const cores = createCorePlan(4);
    const granted = grantThreads({ slots: 1, waiting: 0, threads: 'shared' }, cores);
    await expect(granted(() => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
    expect(await granted((grant) => Promise.resolve(grant.threads))).toBe(4);
  });

  it('takes the number of the settings as it is', async () => {
    const granted = grantThreads({ slots: 2, waiting: 0, threads: 3 }, createCorePlan(2));
    expect(await granted((grant) => Promise.resolve(grant.threads))).toBe(3);
  });

  it('grants nothing to jobs that work elsewhere', async () => {
    const granted = grantThreads({ slots: 2, waiting: 0 }, createCorePlan(2));
    expect(await granted((grant) => Promise.resolve(grant))).toEqual({});
  });
});
