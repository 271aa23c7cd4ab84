/** Times and sizes that have no setting. Tests override them; the npm package does not export them. */
import type { EngineTimeouts } from './engine-host/guard/timeouts.ts';
import { defaultMinRate } from './http/body/min-rate.ts';
import type { BudgetSize } from './http/body/body-budget.ts';
import type { ConnectionLimits } from './http/connection/listener.ts';

/** Times are in milliseconds. */
export const defaultTuning = {
  /** Timeout for receiving a JSON body. */
  bodyTimeoutMs: 5 * 60_000,
  /** Timeout for receiving a recording. */
  uploadTimeoutMs: 60 * 60_000,
  minRate: defaultMinRate,
  /** How long an event stream waits for its provider before it sends the response head. */
  streamHoldMs: 5_000,
  /** Idle time on an event stream before a heartbeat is sent. */
  heartbeatMs: 15_000,
  /** Interval between checks of open WebSockets. */
  socketCheckMs: 10_000,
  /** Interval between interim (1xx) responses. */
  interimMs: 2 * 60_000,
  /** Time without a reader after which the synthesis of a clip ends. */
  clipUnreadMs: 15_000,
  /** How long a complete clip is kept after its last read. */
  clipKeepMs: 10 * 60_000,
  /** Delays before the retries of a failed part of a job. */
  jobRetryMs: [5_000, 60_000, 300_000],
  /** Interval between attempts to take over the jobs of another service process. */
  jobOwnerMs: 10_000,
};

/** The defaults of the optional fields are in the modules that use them. */
export interface Tuning extends Readonly<typeof defaultTuning> {
  readonly bodyBudget?: BudgetSize;
  readonly engineTimeouts?: Partial<EngineTimeouts>;
  readonly connectionLimits?: Partial<ConnectionLimits>;
}
