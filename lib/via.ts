/**
 * Detects loops of services: a service whose provider is the service itself, directly or through another one. Every
 * request to a provider lists the services it has passed through, and a service that finds its own id rejects it.
 */
import { randomBytes } from 'node:crypto';

export const viaHeader = 'x-parlance-via';

const id = /^[\w-]{16}$/;
/** Maximum number of ids in a header. */
const maxChainLength = 16;

/** A new id per service and start: it reveals nothing about the machine. */
export function createViaId(): string {
  return randomBytes(12).toString('base64url');
}

/** Returns the ids of a request, and skips invalid ones. */
export function readVia(header: string | readonly string[] | undefined): readonly string[] {
  if (header === undefined) return none;
  return String(header)
    .split(',')
    .map((one) => one.trim())
    .filter((one) => id.test(one))
    .slice(-maxChainLength);
}

const none: readonly string[] = [];

/** Returns the header for a request that passed through `chain` and this service. */
export function writeVia(chain: readonly string[], own: string): string {
  return [...chain, own].slice(-maxChainLength).join(', ');
}
