/**
 * Requests for a clip or transcription that another front of the fleet has. The router forwards them with a `Forward`
 * of the fleet, after the API key and its limits have been checked; the other front runs the handler.
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
 * Resolves with the answer of the front that has it; undefined if this one answers. Throws the problem of that front,
 * or `overloaded` if it cannot be reached.
 */
export type Forward = (request: ForwardedRequest) => Promise<AnyAnswer | undefined>;

/** The name of the API key with which a forwarded request was admitted; absent in open mode. Part of the signature. */
export const keyHeader = 'x-parlance-key';

/** The id of a forwarded request, which both fronts log. */
export const requestIdHeader = 'x-request-id';
