/**
 * Whether the capabilities in READY_REQUIRES are installed. Only models that need assets are checked: a failing provider
 * must not take the whole service out of its load balancer.
 */
import type { Capability } from '../../../engines/contract/index.ts';
import { isInstalled, type Models } from './served-models.ts';

/** Returns one sentence for each required capability that is not ready. Once the list is empty, it stays empty. */
export type Readiness = () => readonly string[];

export function createReadiness(registry: Models, required: readonly Capability[]): Readiness {
  let waiting = required;
  return () => {
    const missing = waiting.flatMap((capability) => {
      const model = registry.of(capability).default;
      if (model?.entry.needs === undefined || isInstalled(model)) return [];
      return [{ capability, reason: model.availability.reason }];
    });
    waiting = missing.map(({ capability }) => capability);
    return missing.map(({ capability, reason }) => `${capability}: ${reason}`);
  };
}
