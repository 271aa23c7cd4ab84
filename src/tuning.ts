/** Times and sizes that no setting changes. Tests override them; the npm package does not export them. */
import type { EngineTimeouts } from './engine-host/guard/timeouts.ts';
import { defaultMinRate } from './http/body/min-rate.ts';
import type { BudgetSize } from './http/body/body-budget.ts';
import type { ConnectionLimits } from './http/connection/listener.ts';

/** Times are in milliseconds. */
export const defaultTuning = {
  /** Timeout for a JSON body to arrive. */
  bodyTimeoutMs: 5 * 60_000,
  /** Timeout for a recording to arrive. */
  uploadTimeoutMs: 60 * 60_000,
  minRate: defaultMinRate,
  /** Time that an event stream waits for its provider before it sends its head. */
  streamHoldMs: 5_000,
  /** Silence on an event stream before a heartbeat. */
  heartbeatMs: 15_000,
  /** Time between two checks of open WebSockets. */
  socketCheckMs: 10_000,
  /** Time between interim responses. */
  interimMs: 2 * 60_000,
  /** Time without a reader that ends the synthesis of a clip. */
  clipUnreadMs: 15_000,
  /** Time that a complete clip is kept after its last read. */
  clipKeepMs: 10 * 60_000,
  /** Delays before the retries of a failed part of a job. */
  jobRetryMs: [5_000, 60_000, 300_000],
  /** Time between two attempts to take over the jobs of another service. */
  jobOwnerMs: 10_000,
};

/** The modules that use the optional fields have their defaults. */
export interface Tuning extends Readonly<typeof defaultTuning> {
  readonly bodyBudget?: BudgetSize;
  readonly engineTimeouts?: Partial<EngineTimeouts>;
  readonly connectionLimits?: Partial<ConnectionLimits>;
}
