import type { IncomingHttpHeaders } from 'node:http';
import type { Logger } from '../../engines/contract/index.ts';
import type { RequestScope } from '../request-scope.ts';
import type { AnyAnswer, ProblemCode } from '../contract/operations.ts';
import type { ApiFormat } from './api-format.ts';
import type { RequestBody } from './body/request-body.ts';
import type { RequestTarget } from './request-head.ts';

/** The path of the target is as the API reads it. */
export type Respond = (request: IncomingRequest, target: RequestTarget) => Promise<ScopedAnswer>;

export interface Api extends ApiFormat {
  /** The router of its contract. */
  readonly respond: Respond;
}

export interface ScopedAnswer {
  readonly answer: AnyAnswer;
  /** Where its body is read: with the API key, if the request has one. */
  readonly scope: RequestScope;
}

/** A request as the app hands it to the router: its body is still on its way. */
export interface IncomingRequest {
  readonly id: string;
  readonly api: Api;
  /** GET for HEAD. */
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Pick<RequestBody, 'json' | 'form'>;
  /** A small object of its own: everything that the request starts keeps it in memory. */
  readonly scope: RequestScope;
  /** Aborts when the caller disconnects, when the request turns out not to be HTTP, and when the service ends. */
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** Runs the cleanup once the answer is sent or the caller has disconnected; immediately if that has happened. */
  readonly atEnd: (cleanup: () => unknown) => void;
  readonly record: RequestRecord;
}

/**
 * Facts of a request for its log line, its metrics and its span. The only part of a request that is
 * written to: a request may end within any step, which then returns nothing.
 */
export interface RequestRecord {
  /** As sent; "" until the head of the request has been checked. */
  path: string;
  operation?: string;
  /** A file of the page that an HTML page names: logged at debug only. */
  isAsset?: boolean;
  /** The name of its API key. */
  key?: string;
  /** The last failure that has been logged. */
  loggedFailure?: unknown;
  /** The code of its problem. */
  problem?: ProblemCode;
}
