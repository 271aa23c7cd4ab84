/** Differences between the APIs: the paths below one prefix have a contract, an error shape and a stream format. */
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
  /** The path as the router matches it. Throws `not-found`. */
  readonly readPath: (path: string) => string;
  readonly toFailure: (problem: ProblemAnswer, failed: Failed) => AnyAnswer;
  readonly stream: StreamFormat;
  /** The limits of an API key as headers; `shown` are those whose state is shown. */
  readonly limitHeaders: (policies: readonly Policy[], shown: readonly Policy[]) => LimitHeaders;
}
