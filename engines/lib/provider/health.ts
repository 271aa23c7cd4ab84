/** Tracks a provider's health from the outcome of past calls, so that availability costs no request. */
import type { Availability, EngineError } from '../../contract/index.ts';
import { SchemeError } from './failures.ts';

const unreachableForMs = 60_000;

export type Health = ReturnType<typeof createHealth>;

/** `model` is undefined for requests without a model, such as GET /models: some providers answer that without a key. */
export function createHealth(instance: string, isKeyMissing: boolean, now: () => number) {
  /**
   * Models of the calls that were answered with 401, which applies to all models, and with 403, which applies to one.
   */
  const refusedAsWhole = new Set<string | undefined>();
  const refusedFor = new Set<string | undefined>();
  let unreachable: { readonly until: number; readonly error: EngineError } | undefined;
  let keyError: EngineError | undefined;

  return {
    succeeded(model: string | undefined): void {
      if (model === undefined) refusedAsWhole.delete(model);
      else if (refusedAsWhole.size > 0) refusedAsWhole.clear(); // clear() allocates, even when it is empty
      refusedFor.delete(model);
      unreachable = undefined;
    },
    failed(model: string | undefined, error: EngineError, status: number | undefined): void {
      if (error.code === 'provider-unreachable' || error instanceof SchemeError) {
        unreachable = { until: now() + unreachableForMs, error };
      } else if (status !== undefined) unreachable = undefined;
      if (error.code !== 'provider-auth-failed') return;
      keyError = error;
      (status === 401 ? refusedAsWhole : refusedFor).add(model);
    },
    /** Returns undefined if no problem with the model is known. */
    availability(model: string): Availability | undefined {
      if (isKeyMissing) {
        const reason = `No API key is configured for the provider ${instance}.`;
        return { available: false, code: 'key-missing', reason };
      }
      if (refusedAsWhole.size > 0 || refusedFor.has(model)) {
        const reason = `The provider ${instance} rejected the API key.`;
        return { available: false, code: 'key-refused', reason, forOperator: keyError?.forOperator };
      }
      if (unreachable && now() < unreachable.until) {
        const { message, forOperator } = unreachable.error;
        const isTemporary = !(unreachable.error instanceof SchemeError);
        const reason = isTemporary ? `The provider ${instance} was unreachable a moment ago; try again.` : message;
        return { available: true, code: 'upstream-unreachable', reason, forOperator };
      }
      return undefined;
    },
  };
}
