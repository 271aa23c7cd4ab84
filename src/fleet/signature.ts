/**
 * Signatures of requests between nodes: an HMAC of method, URL with host, minute and a nonce that is valid once. A
 * request that is seen or recorded on its way is of no use to others. No fleet request has a body whose loss or change
 * would matter before its line is open, so bodies are not signed.
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

const scheme = 'Parlance-Fleet';

/** The value of the Authorization header; `now` in milliseconds since the epoch. */
export function sign(secret: string, request: SignedRequest, now: number): string {
  const minute = String(Math.floor(now / 60_000));
  const nonce = randomBytes(16).toString('base64url');
  return `${scheme} ${minute}.${nonce}.${macOf(secret, request, minute, nonce)}`;
}

export type Verify = (request: SignedRequest, authorization: string | undefined, now: number) => boolean;

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
    if (minute === undefined || nonce === undefined || mac === undefined) return false;
    const current = Math.floor(now / 60_000);
    if (Math.abs(Number(minute) - current) > skewMinutes) return false;
    return isEqual(mac, macOf(secret, request, minute, nonce)) && isFresh(Number(minute), nonce, current);
  };
}

function macOf(secret: string, { method, url }: SignedRequest, minute: string, nonce: string): string {
  return macFor(secret, ['request', method, url, minute, nonce]);
}
