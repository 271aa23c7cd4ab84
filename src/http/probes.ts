/**
 * Liveness and readiness probes: called every few seconds, without a key and with any Host header, and logged only at
 * debug level.
 */
import { ProblemError } from '../contract/problems.ts';

export function isProbe(path: string): boolean {
  return path === '/healthz' || path === '/readyz';
}

/** Returns the body of `/healthz`. Throws once requests in flight are being aborted. */
export function alive(ending: AbortSignal): object {
  ending.throwIfAborted();
  return { status: 'ok' };
}

/** Returns the body of `/readyz`. Throws `shutting-down` or `not-ready`. */
export type ReadyProbe = () => object;

/**
 * `notReady` returns one sentence for each required part that is not ready; `warnings` returns one for each optional
 * part that does not work.
 */
export function createReadyProbe(
  draining: AbortSignal,
  notReady: () => readonly string[],
  warnings: () => readonly string[] = () => [],
): ReadyProbe {
  return () => {
    draining.throwIfAborted();
    const reasons = notReady();
    if (reasons.length > 0) throw new ProblemError('not-ready', `Required and not ready: ${reasons.join(' ')}`);
    const found = warnings();
    return { status: 'ready', ...(found.length > 0 && { warnings: found }) };
  };
}
