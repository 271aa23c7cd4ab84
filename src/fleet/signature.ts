/**
 * Signatures of requests between nodes: an HMAC of the method, the URL with its host, the name of the API key of a
 * forwarded request, the minute and a single-use nonce, so that a captured request cannot be replayed. Bodies are not
 * signed, because no fleet request has a body that matters before its connection is open.
 */
import { randomBytes } from 'node:crypto';
import { isEqual, macFor } from './ticket.ts';

export interface SignedRequest {
  readonly method: string;
  /** Absolute URL, based on FLEET_ADDRESS. */
  readonly url: string;
  /**
   * Name of the API key with which a front has admitted the request that it forwards; absent for other requests, and in
   * open mode.
   */
  readonly key?: string | undefined;
}

/** Maximum difference between clocks. */
const skewMinutes = 2;

const minuteMs = 60_000;

const scheme = 'Parlance-Fleet';

/** Returns the value of the Authorization header. `now`: milliseconds since the epoch. */
export function sign(secret: string, request: SignedRequest, now: number): string {
  const minute = String(Math.floor(now / minuteMs));
  const nonce = randomBytes(16).toString('base64url');
  return `${scheme} ${minute}.${nonce}.${macOf(secret, request, minute, nonce)}`;
}

/**
 * `signedAt`: the signature is from a node of this fleet whose clock differs by more than two minutes; the node's time
 * in milliseconds since the epoch, rounded down to the minute.
 */
export type SignatureCheck = 'valid' | 'invalid' | { readonly signedAt: number };

export type Verify = (request: SignedRequest, authorization: string | undefined, now: number) => SignatureCheck;

export function createVerifier(secret: string): Verify {
  /** Used nonces by minute. Only nodes that know the secret can add any. */
  const used = new Map<number, Set<string>>();

  function isFresh(minute: number, nonce: string, current: number): boolean {
    for (const old of used.keys()) if (Math.abs(old - current) > skewMinutes) used.delete(old);
    const nonces = used.get(minute) ?? new Set();
    used.set(minute, nonces);
    return nonces.size < nonces.add(nonce).size;
  }

  return (request, authorization = '', now) => {
    const [, minute, nonce, mac] = /^Parlance-Fleet (\d{1,10})\.([\w-]{22})\.([\w-]{43})$/.exec(authorization) ?? [];
    if (minute === undefined || nonce === undefined || mac === undefined) return 'invalid';
    if (!isEqual(mac, macOf(secret, request, minute, nonce))) return 'invalid';
    const current = Math.floor(now / minuteMs);
    if (Math.abs(Number(minute) - current) > skewMinutes) return { signedAt: Number(minute) * minuteMs };
    return isFresh(Number(minute), nonce, current) ? 'valid' : 'invalid';
  };
}

function macOf(secret: string, { method, url, key = '' }: SignedRequest, minute: string, nonce: string): string {
  return macFor(secret, ['request', method, url, key, minute, nonce]);
}
