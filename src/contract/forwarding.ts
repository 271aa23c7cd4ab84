/**
 * Requests for a clip or transcription that is stored on another front of the fleet. After the API key and its limits
 * have been checked, the router forwards them with the fleet's `Forward`, and the other front runs the handler.
 */
import type { OperationObject } from './document.ts';
import type { AnyAnswer, Owned } from './operations.ts';

export interface ForwardedRequest {
  readonly owned: Owned;
  readonly id: string;
  readonly method: string;
  /** Path and query, as sent. */
  readonly target: string;
  /** The headers that the operation declares. */
  readonly headers: Readonly<Record<string, unknown>>;
  /** The responses that the operation declares, by status. */
  readonly responses: OperationObject['responses'];
  readonly signal: AbortSignal;
}

/**
 * Resolves with the answer of the front that has the requested item; undefined if this front must answer. Throws the
 * problem of that front, or `overloaded` if it cannot be reached.
 */
export type Forward = (request: ForwardedRequest) => Promise<AnyAnswer | undefined>;

/**
 * The name of the API key with which a forwarded request was admitted; absent in open mode. The signature covers it.
 */
export const keyHeader = 'x-parlance-key';

/** The id of a forwarded request, which both fronts log. */
export const requestIdHeader = 'x-request-id';
