/**
 * Circuit breaker for Redis commands that a request can do without. After one failure, commands are skipped until a
 * background probe succeeds, so that requests do not queue up behind a hanging Redis.
 */
import type { Logger } from '../../engines/contract/index.ts';
import type { FleetTimeouts } from './timeouts.ts';

export interface CircuitOptions {
  /** Rejects while Redis cannot run the commands. */
  readonly probe: () => Promise<void>;
  /** Called when Redis is available again. */
  readonly onBack: () => void;
  readonly timeouts: Pick<FleetTimeouts, 'reconcileMs'>;
  readonly log: Logger;
}

export type Circuit = ReturnType<typeof createCircuit>;

export function createCircuit({ probe, onBack, timeouts, log }: CircuitOptions) {
  /** The timer of the next probe, set while Redis is unavailable. */
  let probing: NodeJS.Timeout | undefined;
  let isEnded = false;

  function open(err: unknown): void {
    if (probing || isEnded) return;
    log.warn({ err }, 'API key limits are counted per node: Redis is unavailable');
    probeLater();
  }

  /** Schedules the next probe after the previous one has ended, since a probe may take longer than the interval. */
  function probeLater(): void {
    if (!isEnded) probing = setTimeout(() => void probe().then(close, probeLater), timeouts.reconcileMs);
  }

  function close(): void {
    if (isEnded) return;
    probing = undefined;
    log.info({}, 'API key limits are shared by all fronts again');
    onBack();
  }

  return {
    /**
     * Resolves with undefined when the command fails, or when it is skipped because Redis is unavailable. Never
     * rejects.
     */
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
