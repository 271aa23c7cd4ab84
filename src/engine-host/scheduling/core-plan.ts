/** How many threads a job may use: one plan for all queues whose jobs work on this machine's cores. */

import type { JobGrant, QueueOptions } from '../../../engines/contract/index.ts';

interface CoreLease extends Disposable {
  readonly threads: number;
}

export type CorePlan = ReturnType<typeof createCorePlan>;

export function createCorePlan(cores: number) {
  let inUse = 0;
  return {
    /**
     * A job alone gets all that is free. While its queue has slots left, each of these finds a core later: it gets at most
     * half of what is free. Everybody gets one thread, even where none is free.
     */
    take(idleSlots: number): CoreLease {
      const free = cores - inUse;
      const share = idleSlots === 0 ? free : Math.min(Math.ceil(free / 2), free - idleSlots);
      return this.hold(Math.max(1, share));
    },
    /** For a job whose number of threads is a setting. */
    hold(threads: number): CoreLease {
      inUse += threads;
      return { threads, [Symbol.dispose]: () => void (inUse -= threads) };
    },
  };
}

/** Runs the jobs of a queue that are at work, each with its threads. */
export function grantThreads({ slots, threads }: QueueOptions, cores: CorePlan) {
  let busy = 0;
  return async <T>(job: (grant: JobGrant) => Promise<T>): Promise<T> => {
    if (threads === undefined) return job({});
    busy += 1;
    using lease = threads === 'shared' ? cores.take(slots - busy) : cores.hold(threads);
    try {
      return await job({ threads: lease.threads });
    } finally {
      busy -= 1;
    }
  };
}
