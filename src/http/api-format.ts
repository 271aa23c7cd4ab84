/** The differences between the APIs: each has a path prefix, a contract, an error shape and a stream format. */
import type { Contract } from '../contract/document.ts';
import type { AnyAnswer } from '../contract/operations.ts';
import type { ProblemAnswer } from '../contract/problems.ts';
import type { LimitHeaders, Policy } from '../contract/rate-limit.ts';
import type { StreamFormat } from './sse.ts';

/** A request that has failed. */
export interface Failed {
  /** The thrown value. */
  readonly reason: unknown;
  /** The signal of the request. */
  readonly signal: AbortSignal;
}

export interface ApiFormat {
  readonly contract: Contract;
  /** Normalizes a path for the router. Throws `not-found`. */
  readonly readPath: (path: string) => string;
  readonly toFailure: (problem: ProblemAnswer, failed: Failed) => AnyAnswer;
  readonly stream: StreamFormat;
  /** Converts the limits of an API key to headers. `shown` are the limits whose current state is included. */
  readonly limitHeaders: (policies: readonly Policy[], shown: readonly Policy[]) => LimitHeaders;
}
