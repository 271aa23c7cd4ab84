import type { IncomingHttpHeaders } from 'node:http';
import type { Logger } from '../../engines/contract/index.ts';
import type { RequestScope } from '../caller.ts';
import type { AnyAnswer, ProblemCode } from '../contract/operations.ts';
import type { DoorFormat } from './door.ts';
import type { RequestBody } from './request-body.ts';

export type Respond = (request: IncomingRequest) => Promise<AnyAnswer>;

export interface Door extends DoorFormat {
  /** The router of its contract. */
  readonly respond: Respond;
}

/** A request as the app hands it to the router: its head has been read, its body is still on its way. */
export interface IncomingRequest {
  readonly id: string;
  readonly door: Door;
  /** GET for HEAD. */
  readonly method: string;
  /** As the door reads it, without the query; "" until the head of the request has been checked. */
  path: string;
  /** As sent, without the question mark. */
  query: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Pick<RequestBody, 'json' | 'form'>;
  /** A small object of its own: everything that the request starts keeps it in memory. */
  readonly scope: RequestScope;
  /** Aborts when the caller disconnects, when the request turns out not to be HTTP, and when the service ends. */
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** Runs the cleanup once the answer is sent or the caller has disconnected; immediately if that has happened. */
  readonly atEnd: (cleanup: () => unknown) => void;
  /** Set by the router once it is known. */
  operation?: string;
  /** The last failure that has been logged. */
  loggedFailure?: unknown;
  /** The code of its problem. */
  problem?: ProblemCode;
}
