/**
 * Whether the capabilities in READY_REQUIRES are installed. Calls no provider: only models that need assets are
 * checked.
 */
import type { Capability } from '../../../engines/contract/index.ts';
import { availabilityOf, notInstalled } from './served-models.ts';
import type { Registry } from './registry.ts';

/** One sentence for each required capability that is not ready. Once empty, it stays empty. */
export type Readiness = () => Promise<readonly string[]>;

export function createReadiness(registry: Registry, required: readonly Capability[]): Readiness {
  let waiting = required;
  return async () => {
    const checked = await Promise.all(
      waiting.map(async (capability) => ({ capability, reason: await unpreparedReason(registry, capability) })),
    );
    const missing = checked.filter(({ reason }) => reason !== undefined);
    waiting = missing.map(({ capability }) => capability);
    return missing.map(({ capability, reason }) => `${capability}: ${String(reason)}`);
  };
}

/**
 * Returns why the default model, which serves requests without a model, is not ready. A failing provider must not take
 * the whole service out of its load balancer.
 */
async function unpreparedReason(registry: Registry, capability: Capability): Promise<string | undefined> {
  const model = await registry.of(capability).lastDefault();
  if (model?.entry.needs === undefined) return undefined;
  const { code, reason } = await availabilityOf(model);
  return notInstalled.includes(code) ? reason : undefined;
}
