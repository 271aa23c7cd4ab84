/**
 * A queue entry contains the address of a call, and none of its content: dashboards show the data of queue entries, and
 * append-only files and replicas of Redis store it.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { isObject } from '../../lib/json.ts';

/**
 * Version of the protocol of tickets, fleet requests and connections. Part of the queue names. Within a version, only
 * optional fields are added.
 */
export const version = 1;

export interface Ticket {
  readonly v: number;
  /** Address of the call at its front. The address is secret, because any node that knows it can take the call. */
  readonly url: string;
  /** Milliseconds since the epoch. */
  readonly expires: number;
  /** HMAC of address and expiry, because Redis is not trusted to choose addresses for workers. */
  readonly mac: string;
  /** Ids of the workers that have returned the call, most recent last. */
  readonly returnedBy?: readonly string[];
}

/** Maximum difference between the clocks of nodes, in milliseconds. */
export const skewMs = 120_000;

/** Returns 128 random bits. */
export function newId(): string {
  return randomBytes(16).toString('base64url');
}

export function queueName(instance: string): string {
  return `transcription-v${version}-${instance}`;
}

export function sealTicket(secret: string, url: string, expires: number, returnedBy?: readonly string[]): Ticket {
  return { v: version, url, expires, mac: macOf(secret, url, expires), ...(returnedBy && { returnedBy }) };
}

/** Returns undefined for a ticket that has expired or was not created by a front of this fleet. */
export function openTicket(secret: string, value: unknown, now: number): Ticket | undefined {
  if (!isObject(value)) return undefined;
  const { v, url, expires, mac, returnedBy } = value;
  if (typeof v !== 'number' || typeof url !== 'string' || typeof expires !== 'number' || typeof mac !== 'string')
    return undefined;
  if (expires + skewMs < now || !isEqual(mac, macOf(secret, url, expires))) return undefined;
  return { v, url, expires, mac, ...(areStrings(returnedBy) && { returnedBy }) };
}

function macOf(secret: string, url: string, expires: number): string {
  return macFor(secret, ['ticket', url, String(expires)]);
}

/** Returns the HMAC-SHA256 of the fields. The first field names the purpose. */
export function macFor(secret: string, fields: readonly string[]): string {
  return createHmac('sha256', secret).update(fields.join('\n')).digest('base64url');
}

function areStrings(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

/** Returns the pseudonym of a caller or API key in Redis. */
export function pseudonymOf(secret: string, caller: string): string {
  return macFor(secret, ['caller', caller]).slice(0, 22);
}

export function isEqual(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
