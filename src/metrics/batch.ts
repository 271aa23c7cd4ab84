/** Counts in batches: prom-client takes 3 us per chat in a tight loop, and 5 times that between other work. */
import type { Logger } from '../../engines/contract/index.ts';

export interface Batch {
  /** Runs `count` later, at the latest with the next `flush`. Never throws. */
  add(count: () => void): void;
  flush(): void;
}

/** 256 take less than a millisecond. */
const most = 256;

/** Errors are logged: metrics never fail what they measure. */
export function createBatch(log: Pick<Logger, 'error'>): Batch {
  let pending: (() => void)[] = [];

  function flush(): void {
    const counts = pending;
    pending = [];
    for (const count of counts) {
      try {
        count();
      } catch (error) {
        log.error({ err: error }, 'something could not be counted in the metrics');
      }
    }
  }

  return {
    add(count) {
      pending.push(count);
      if (pending.length >= most) flush();
    },
    flush,
  };
}
