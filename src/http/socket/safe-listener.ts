import type { Logger } from '../../../engines/contract/index.ts';
import { errnoOf } from '../../../lib/errors.ts';

/** Wraps an event listener to log its exceptions, which would otherwise end the process as uncaught exceptions. */
export function safeListener<Args extends unknown[]>(
  log: Logger,
  listener: (...args: Args) => void,
): (...args: Args) => void {
  return (...args) => {
    try {
      listener(...args);
    } catch (error) {
      log.error({ err: error }, 'a listener failed');
    }
  };
}

/**
 * Like `safeListener`, for one listener shared by many emitters. The listener receives the emitter, which saves a
 * closure per emitter.
 */
export function safeSharedListener<Emitter>(
  log: Logger,
  listener: (emitter: Emitter) => void,
): (this: Emitter) => void {
  const guarded = safeListener(log, listener);
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
