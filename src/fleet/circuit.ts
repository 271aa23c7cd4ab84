/**
 * Circuit breaker for what requests ask of Redis and can do without. After one failure nothing more is asked, so that
 * requests do not wait one after the other for a Redis that hangs; a probe in the background finds it again.
 */
import type { Logger } from '../../engines/contract/index.ts';
import type { FleetTimeouts } from './timeouts.ts';

export interface CircuitOptions {
  /** Whether Redis is connected. */
  readonly isReady: () => boolean;
  /** Rejects while Redis cannot do what requests ask of it. */
  readonly probe: () => Promise<void>;
  /** Redis is reconnected. */
  readonly onBack: () => void;
  readonly limits: Pick<FleetTimeouts, 'reconcileMs'>;
  readonly log: Logger;
  /** Logged once per outage, at its begin and at its end. */
  readonly messages: { readonly unavailable: string; readonly reconnected: string };
}

export interface Circuit extends Disposable {
  /** Undefined where Redis does not answer; while it is unavailable, without asking. Never rejects. */
  ask<T>(command: () => Promise<T>): Promise<T | undefined>;
  readonly isAway: boolean;
}

export function createCircuit({ isReady, probe, onBack, limits, log, messages }: CircuitOptions): Circuit {
  /** Set while Redis is unavailable. */
  let probing: NodeJS.Timeout | undefined;
  let isEnded = false;

  function open(error: unknown): void {
    if (probing || isEnded) return;
    log.warn(error === undefined ? {} : { err: error }, messages.unavailable);
    probing = setInterval(() => void close(), limits.reconcileMs);
  }

  let closing: Promise<void> | undefined;

  /** One probe at a time: a probe may take longer than the interval. */
  const close = () => (closing ??= tryToClose().finally(() => (closing = undefined)));

  async function tryToClose(): Promise<void> {
    if (!isReady()) return;
    const isBack = await probe().then(
      () => true,
      () => false,
    );
    if (!isBack || isEnded) return;
    clearInterval(probing);
    probing = undefined;
    log.info({}, messages.reconnected);
    onBack();
  }

  return {
    async ask(command) {
      if (!probing && !isReady()) open(undefined);
      if (probing) return undefined;
      try {
        return await command();
      } catch (error) {
        open(error);
        return undefined;
      }
    },
    get isAway() {
      return probing !== undefined;
    },
    [Symbol.dispose]() {
      isEnded = true;
      clearInterval(probing);
    },
  };
}
