/** Tracks a provider's health from the outcome of past calls, so that availability costs no request. */
import type { Availability, EngineError } from '../../contract/index.ts';
import { ready } from '../serve-models.ts';

const unreachableForMs = 60_000;

export type Health = ReturnType<typeof createHealth>;

/** `model` is undefined for requests without a model, such as GET /models: some providers answer that without a key. */
export function createHealth(instance: string, isKeyMissing: boolean, now: () => number) {
  /**
   * Models of the calls that were answered with 401, which applies to all models, and with 403, which applies to one.
   */
  const refusedAsWhole = new Set<string | undefined>();
  const refusedFor = new Set<string | undefined>();
  let unreachableUntil = -Infinity;

  return {
    succeeded(model: string | undefined): void {
      if (model === undefined) refusedAsWhole.delete(model);
      else if (refusedAsWhole.size > 0) refusedAsWhole.clear(); // clear() allocates, even when it is empty
      refusedFor.delete(model);
      unreachableUntil = -Infinity;
    },
    failed(model: string | undefined, { code }: EngineError, status: number | undefined): void {
      if (code === 'provider-unreachable') unreachableUntil = now() + unreachableForMs;
      else if (status !== undefined) unreachableUntil = -Infinity;
      if (code !== 'provider-auth-failed') return;
      (status === 401 ? refusedAsWhole : refusedFor).add(model);
    },
    availability(model: string): Availability {
      if (isKeyMissing) {
        const reason = `No API key is configured for the provider ${instance}.`;
        return { available: false, code: 'key-missing', reason };
      }
      if (refusedAsWhole.size > 0 || refusedFor.has(model)) {
        return { available: false, code: 'key-refused', reason: `The provider ${instance} rejected the API key.` };
      }
      if (now() < unreachableUntil) {
        const reason = `The provider ${instance} was unreachable a moment ago; try again.`;
        return { available: true, code: 'upstream-unreachable', reason };
      }
      return ready;
    },
  };
}
