import type { Logger } from '../../../engines/contract/index.ts';
import { errnoOf } from '../../../lib/errors.ts';

/** Wraps an event listener: exceptions are logged, instead of ending the process as uncaught exceptions. */
export function guard<Args extends unknown[]>(log: Logger, listener: (...args: Args) => void): (...args: Args) => void {
  return (...args) => {
    try {
      listener(...args);
    } catch (error) {
      log.error({ err: error }, 'a listener failed');
    }
  };
}

/** The same for one listener on many emitters, which receives the emitter: a closure for each would live as long as it. */
export function guardShared<Emitter>(log: Logger, listener: (emitter: Emitter) => void): (this: Emitter) => void {
  const guarded = guard(log, listener);
  return function () {
    guarded(this);
  };
}

const connectionCodes = new Set([
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ERR_STREAM_WRITE_AFTER_END',
  'ERR_STREAM_DESTROYED',
]);

/** Whether the error only means that the client has disconnected. */
export function isConnectionError(error: unknown): boolean {
  return connectionCodes.has(errnoOf(error) ?? '');
}
