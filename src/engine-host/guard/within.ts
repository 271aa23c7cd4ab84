import { EngineError } from '../../../engines/contract/index.ts';
import { startTimeout } from '../../../lib/abort.ts';
import { outcome } from './calls.ts';

/** Runs a single call with a timeout. */
export async function within<T>(ms: number, work: () => T | PromiseLike<T>): Promise<T> {
  using timeout = startTimeout(ms, () => new EngineError('engine-timeout', `no answer within ${ms / 1000} s`));
  return await outcome(work, timeout.signal, 0);
}
