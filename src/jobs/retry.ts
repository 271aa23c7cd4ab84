/** Retries a step of a job after transient failures. */
import type { Logger } from '../../engines/contract/index.ts';
import { pause } from '../../lib/abort.ts';
import type { ProblemCode, Schemas } from '../contract/operations.ts';
import { problemAnswer } from '../contract/problems.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Job } from './job.ts';

type Problem = Schemas['Problem'];

export interface RetryContext {
  readonly job: Job;
  readonly signal: AbortSignal;
  /** Delays before the retries, in milliseconds. */
  readonly retryMs: readonly number[];
  readonly metrics?: Metrics | undefined;
  readonly log: Logger;
}

/** Runs a step of the job, and repeats it after transient failures, and once after a crash. */
export type Retrying = <T>(run: () => T | Promise<T>, final?: ProblemCode) => Promise<T>;

/**
 * Returns a function that rejects with the last error of the step, or with the signal's reason. An error with the code
 * `final` is not retried.
 */
export function retrying({ job, signal, retryMs, metrics, log }: RetryContext): Retrying {
  const last = retryMs.length - 1;
  return async (run, final) => {
    for (let failures = 0; ;) {
      try {
        return await run();
      } catch (error) {
        signal.throwIfAborted();
        const { requestId } = job.record;
        const { body } = problemAnswer(error, requestId);
        const isUnlimited = unlimited.has(body.code);
        const mayHaveCrashed = body.code === 'engine-failed' && failures === 0; // such as a program that was killed
        const isTemporary = isTransient(body) || mayHaveCrashed;
        if (!isUnlimited && (!isTemporary || body.code === final || failures > last)) throw error;
        metrics?.jobPartRetried();
        log.info({ id: requestId, code: body.code, err: error }, 'a step of a job failed; retrying');
        await pause(Math.max(retryMs[Math.min(failures, last)] ?? 0, retryAfterMs(body)), signal);
        if (!isUnlimited || failures < last) failures += 1;
      }
    }
  };
}

/** Codes that are retried without a limit: the service is busy, its disk is full, or the budget of the key is spent. */
const unlimited: ReadonlySet<ProblemCode> = new Set(['overloaded', 'storage-full', 'quota-exceeded']);

function isTransient({ status, code }: Problem): boolean {
  return [429, 503, 504].includes(status) || code === 'provider-unreachable';
}

/**
 * Returns the Retry-After of a provider or a budget, in milliseconds; 0 for the service's own codes, whose Retry-After
 * is meant for clients.
 */
function retryAfterMs({ code, retry_after: seconds = 0 }: Problem): number {
  return code === 'overloaded' || code === 'storage-full' ? 0 : seconds * 1000;
}
