import type { IncomingHttpHeaders } from 'node:http';
import type { Logger } from '../../engines/contract/index.ts';
import type { RequestScope } from '../request-scope.ts';
import type { AnyAnswer, ProblemCode } from '../contract/operations.ts';
import type { Faults } from '../contract/prefer.ts';
import type { TextSocket } from '../contract/session.ts';
import type { ApiFormat } from './api-format.ts';
import type { RequestBody } from './body/request-body.ts';
import type { RequestTarget } from './request-head.ts';

/** Answers a request. The path of `target` has been normalized by `ApiFormat.readPath`. */
export type Respond = (request: IncomingRequest, target: RequestTarget) => Promise<ScopedAnswer>;

export interface Api extends ApiFormat {
  /** The router of the API's contract. */
  readonly respond: Respond;
}

/** The status of an answer whose body is an `OpenedSession`. */
export const upgradedStatus = 101;

/** A session for the WebSocket that a request asked for. */
export interface OpenedSession {
  /** Runs the session. The socket is closed when the promise resolves. */
  readonly run: (socket: TextSocket) => Promise<void>;
  /** Whether the API key is still valid and permits the session. */
  readonly isAllowed: () => boolean;
  /** Aborts with a `PlaceTaken` when another session needs the place of this one. */
  readonly taken: AbortSignal;
}

export interface ScopedAnswer {
  readonly answer: AnyAnswer;
  /** Scope in which the answer's body is read or its session runs. Includes the API key if the request has one. */
  readonly scope: RequestScope;
  /** In sandbox mode, the faults to apply to the answer. */
  readonly faults?: Faults | undefined;
}

/** A request in the form that the app passes to the router. Its body may not have arrived yet. */
export interface IncomingRequest {
  readonly id: string;
  readonly api: Api;
  /** `GET` for HEAD requests. */
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Pick<RequestBody, 'json' | 'form'>;
  /** A small, separate object, because all work started by the request keeps the scope in memory. */
  readonly scope: RequestScope;
  /** Aborts when the caller disconnects, when the body is not valid HTTP, and when the service shuts down. */
  readonly signal: AbortSignal;
  readonly log: Logger;
  /**
   * Runs the cleanup once the answer is sent or the caller has disconnected; immediately if that has already happened.
   */
  readonly atEnd: (cleanup: () => unknown) => void;
  readonly record: RequestRecord;
  /**
   * Set for WebSocket requests. Ends the request in the metrics and the trace, because a session follows, and returns a
   * function that ends the session.
   */
  readonly upgraded?: () => () => void;
}

/**
 * Facts about a request for its log line, metrics and span. This is the only mutable part of a request, because any
 * step may end the request by throwing and then cannot return its facts.
 */
export interface RequestRecord {
  /** The path as sent; "" until the head of the request has been checked. */
  path: string;
  operation?: string;
  /**
   * True for the page's files other than HTML, and for requests that another front logs. Such requests are logged only
   * at debug level.
   */
  isMinor?: boolean;
  /** The name of the API key. */
  key?: string;
  /** The most recently logged failure. */
  loggedFailure?: unknown;
  /** The code of the problem that was sent. */
  problem?: ProblemCode;
  /** Number of turns of a session that have ended. */
  turns?: number;
  /** Number of responses of a session. */
  responses?: number;
  /** Milliseconds of audio that a session has sent. */
  spokenMs?: number;
  /** How often the user has spoken while an answer of a session was playing. */
  interruptions?: number;
  /** The code with which the WebSocket was closed. */
  close?: number;
}
