/** A bounded queue, first in, first out, in front of work that keeps the machine's cores busy. */
import { EngineError, type JobQueue, type QueueOptions } from '../../engines/contract.ts';

/** The mean of the last jobs tells how long the next place takes. */
const remembered = 8;

export function createQueue({ slots, waiting }: QueueOptions, now: () => number): JobQueue {
  const line: (() => void)[] = [];
  const recentMs: number[] = [];
  let busy = 0;

  const isFull = () => busy >= slots && line.length >= waiting;

  function secondsUntilAPlace(): number {
    const mean = recentMs.reduce((sum, ms) => sum + ms, 0) / (recentMs.length || 1);
    return Math.max(1, (mean * (line.length + 1)) / slots / 1000);
  }

  function overloaded(): EngineError {
    const retryAfter = secondsUntilAPlace();
    return new EngineError('overloaded', 'All places of this model are taken; try again later.', { retryAfter });
  }

  /** Resolves when a slot is ours; a caller that leaves leaves the line. */
  async function takeSlot(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (busy < slots) {
      busy += 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const leave = () => {
        line.splice(line.indexOf(enter), 1);
        reject(isDeadline(signal.reason) ? overloaded() : (signal.reason as Error));
      };
      const enter = () => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      line.push(enter);
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  /** The slot goes straight to whoever waits longest, so that nobody overtakes. */
  function passOn(): void {
    const next = line.shift();
    if (next) next();
    else busy -= 1;
  }

  return {
    get full() {
      return isFull();
    },
    async run(job, { signal }) {
      if (isFull()) throw overloaded();
      await takeSlot(signal);
      const started = now();
      try {
        return await job();
      } finally {
        recentMs.push(now() - started);
        if (recentMs.length > remembered) recentMs.shift();
        passOn();
      }
    },
  };
}

/** What was late then is the line: the engine has not been asked at all. */
function isDeadline(reason: unknown): boolean {
  return EngineError.is(reason) && reason.code === 'engine-timeout';
}
