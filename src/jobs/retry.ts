/** Repeats a step of a job while it fails for a passing reason. */
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
  /** Milliseconds before each repetition. */
  readonly retryMs: readonly number[];
  readonly metrics?: Metrics | undefined;
  readonly log: Logger;
}

/** Rejects with the last error of the step, at once if its code is `final`, and with the reason of the signal. */
export async function retry<T>(
  { job, signal, retryMs, metrics, log }: RetryContext,
  step: () => T | Promise<T>,
  final?: ProblemCode,
): Promise<T> {
  const last = retryMs.length - 1;
  for (let failures = 0; ;) {
    try {
      return await step();
    } catch (error) {
      signal.throwIfAborted();
      const { requestId } = job.record;
      const { body } = problemAnswer(error, requestId);
      const isUnlimited = unlimited.has(body.code);
      if (!isUnlimited && (!isPassing(body) || body.code === final || failures > last)) throw error;
      metrics?.jobPartRetried();
      log.info({ id: requestId, code: body.code, err: error }, 'a part of a job is tried again');
      await pause(Math.max(retryMs[Math.min(failures, last)] ?? 0, retryAfterMs(body)), signal);
      if (!isUnlimited || failures < last) failures += 1;
    }
  }
}

/** The service is busy, its disk is full, or the budget of the key is spent: the job waits as long as it takes. */
const unlimited: ReadonlySet<ProblemCode> = new Set(['overloaded', 'storage-full', 'quota-exceeded']);

function isPassing({ status, code }: Problem): boolean {
  return [429, 503, 504].includes(status) || code === 'provider-unreachable';
}

/** The Retry-After of a provider or a budget; that of the service itself is for callers. */
function retryAfterMs({ code, retry_after: seconds = 0 }: Problem): number {
  return code === 'overloaded' || code === 'storage-full' ? 0 : seconds * 1000;
}
