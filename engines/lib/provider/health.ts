/** What the calls so far have told of a provider: enough for an availability that costs nothing. */
import type { Availability, EngineError } from '../../contract/index.ts';

const unreachableForMs = 60_000;

/** `model` is undefined for a request that is about none, such as the list of them: some providers answer it without a key. */
export interface Health {
  /** An answer that is no failure. */
  succeeded(model: string | undefined): void;
  failed(model: string | undefined, error: EngineError, status: number | undefined): void;
  availability(model: string): Availability;
}

export function createHealth(instance: string, isKeyMissing: boolean, now: () => number): Health {
  /** A key is refused as a whole (401), or for one model (403). */
  const refusedAsWhole = new Set<string | undefined>();
  const refusedFor = new Set<string | undefined>();
  let unreachableUntil = -Infinity;

  return {
    succeeded(model) {
      if (model === undefined) refusedAsWhole.delete(model);
      else refusedAsWhole.clear();
      refusedFor.delete(model);
      unreachableUntil = -Infinity;
    },
    failed(model, { code }, status) {
      if (code === 'provider-unreachable') unreachableUntil = now() + unreachableForMs;
      else if (status !== undefined) unreachableUntil = -Infinity;
      if (code !== 'provider-auth-failed') return;
      (status === 401 ? refusedAsWhole : refusedFor).add(model);
    },
    availability(model) {
      if (isKeyMissing) {
        return {
          available: false,
          code: 'key-missing',
          reason: `The provider ${instance} has no key in the settings.`,
        };
      }
      if (refusedAsWhole.size > 0 || refusedFor.has(model)) {
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
