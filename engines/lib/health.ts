/** What the calls so far have told of a provider: enough for an availability that costs nothing. */
import type { Availability, EngineError } from '../contract.ts';

const unreachableForMs = 60_000;

export interface Health {
  /** An answer that is no failure. */
  succeeded(model: string): void;
  failed(model: string, error: EngineError, status: number | undefined): void;
  availability(model: string): Availability;
}

export function createHealth(instance: string, isKeyMissing: boolean, now: () => number): Health {
  /** A key is refused as a whole (401), or for one model (403). */
  let keyRefused = false;
  const refusedFor = new Set<string>();
  let unreachableUntil = -Infinity;

  return {
    succeeded(model) {
      keyRefused = false;
      refusedFor.delete(model);
      unreachableUntil = -Infinity;
    },
    failed(model, { code }, status) {
      if (code === 'provider-unreachable') unreachableUntil = now() + unreachableForMs;
      else if (status !== undefined) unreachableUntil = -Infinity;
      if (code !== 'provider-auth-failed') return;
      if (status === 401) keyRefused = true;
      else refusedFor.add(model);
    },
    availability(model) {
      if (isKeyMissing) {
        return {
          available: false,
          code: 'key-missing',
          reason: `The provider ${instance} has no key in the settings.`,
        };
      }
      if (keyRefused || refusedFor.has(model)) {
        return { available: false, code: 'key-refused', reason: `The provider ${instance} refused the key.` };
      }
      if (now() < unreachableUntil) {
        const reason = `The provider ${instance} could not be reached a moment ago; try again.`;
        return { available: true, code: 'upstream-unreachable', reason };
      }
      return { available: true, code: 'ready', reason: 'Ready.' };
    },
  };
}
