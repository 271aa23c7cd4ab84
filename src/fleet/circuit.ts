/**
 * Circuit breaker for what requests ask of Redis and can do without. After one failure nothing more is asked, so that
 * requests do not wait one after the other for a Redis that hangs; a probe in the background finds it again.
 */
import type { Logger } from '../../engines/contract/index.ts';
import type { FleetTimeouts } from './timeouts.ts';

export interface CircuitOptions {
  /** Rejects while Redis cannot do what requests ask of it. */
  readonly probe: () => Promise<void>;
  /** Redis is reconnected. */
  readonly onBack: () => void;
  readonly limits: Pick<FleetTimeouts, 'reconcileMs'>;
  readonly log: Logger;
}

export type Circuit = ReturnType<typeof createCircuit>;

export function createCircuit({ probe, onBack, limits, log }: CircuitOptions) {
  /** Set while Redis is unavailable. */
  let probing: NodeJS.Timeout | undefined;
  let isEnded = false;

  function open(err: unknown): void {
    if (probing || isEnded) return;
    log.warn({ err }, 'the limits of API keys are per node now: Redis does not count them');
    probeLater();
  }

  /** One at a time: a probe may take longer than the time between two. */
  function probeLater(): void {
    if (!isEnded) probing = setTimeout(() => void probe().then(close, probeLater), limits.reconcileMs);
  }

  function close(): void {
    if (isEnded) return;
    probing = undefined;
    log.info({}, 'the limits of API keys are shared by all fronts again');
    onBack();
  }

  return {
    /** Undefined where Redis does not answer; while it is unavailable, without asking. Never rejects. */
    async ask<T>(command: () => Promise<T>): Promise<T | undefined> {
      if (probing) return undefined;
      try {
        return await command();
      } catch (err) {
        open(err);
        return undefined;
      }
    },
    get isAway() {
      return probing !== undefined;
    },
    [Symbol.dispose]() {
      isEnded = true;
      clearTimeout(probing);
    },
  };
}
