/** A defect of the service's own: engines can no longer make a listing fail. */
import type { TestService } from '../../support/service.ts';

/** Listings fail once `until` has settled, until the defect is disposed of. */
export function breakListings({ service }: TestService, until: Promise<unknown> = Promise.resolve()): Disposable {
  const registry = service.registry as { models?: unknown };
  registry.models = async () => {
    await until;
    throw new TypeError('a defect of the service');
  };
  return {
    [Symbol.dispose]() {
      delete registry.models; // the method of its class is there again
    },
  };
}
