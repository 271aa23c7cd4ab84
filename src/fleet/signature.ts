/**
 * Signatures of requests between nodes: an HMAC of method, URL with host, minute and a nonce that is valid once. A
 * request that is seen or recorded on its way is of no use to others. No fleet request has a body whose loss or change
 * would matter before its connection is open, so bodies are not signed.
 */
import { randomBytes } from 'node:crypto';
import { isEqual, macFor } from './ticket.ts';

export interface SignedRequest {
  readonly method: string;
  /** Absolute, as the other nodes write it (FLEET_ADDRESS). */
  readonly url: string;
}

/** Maximum difference of clocks. */
const skewMinutes = 2;

const minuteMs = 60_000;

const scheme = 'Parlance-Fleet';

/** The value of the Authorization header; `now` in milliseconds since the epoch. */
export function sign(secret: string, request: SignedRequest, now: number): string {
  const minute = String(Math.floor(now / minuteMs));
  const nonce = randomBytes(16).toString('base64url');
  return `${scheme} ${minute}.${nonce}.${macOf(secret, request, minute, nonce)}`;
}

/** `signedAt`: a node of this fleet, whose clock differs by more than two minutes; to the minute, since the epoch. */
export type Verdict = 'valid' | 'invalid' | { readonly signedAt: number };

export type Verify = (request: SignedRequest, authorization: string | undefined, now: number) => Verdict;

export function createVerifier(secret: string): Verify {
  /** Nonces by minute. Only nodes that know the secret add any. */
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

function macOf(secret: string, { method, url }: SignedRequest, minute: string, nonce: string): string {
  return macFor(secret, ['request', method, url, minute, nonce]);
}
