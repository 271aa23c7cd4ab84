/** Opens the engines from the settings, and the fleet that this machine belongs to, if any. */
import type { EngineTimeouts } from './engine-host/guard/timeouts.ts';
import type { ParentLogger } from './engine-host/context.ts';
import { openEngines, type OpenEngines } from './engine-host/registry/open-engines.ts';
import type { Fleet } from './fleet/index.ts';
import type { Metrics } from './metrics/metrics.ts';
import { timeoutMs } from './transcription/run.ts';
import { readFleet } from './settings/fleet.ts';
import type { Environment, LoadedSettings } from './settings/load.ts';

export interface OpenNode extends OpenEngines {
  /** Undefined without FLEET_URL. */
  readonly fleet: Fleet | undefined;
}

export interface NodeOptions {
  readonly settings: LoadedSettings;
  readonly env: Environment;
  readonly log: ParentLogger;
  readonly timeouts?: Partial<EngineTimeouts> | undefined;
  readonly metrics?: Metrics | undefined;
}

/** Throws a `RegistryError` or a `SettingsError`. */
export async function openNode({ settings, env, log, timeouts, metrics }: NodeOptions): Promise<OpenNode> {
  // A recording that a worker transcribes is not decoded on this machine: assume the maximum length.
  const transcribeTimeout = timeoutMs(settings.transcribeTimeout, settings.transcribeMaxSeconds * 1000) / 1000;
  const fleetSettings = readFleet(settings);
  let fleet: Fleet | undefined;
  if (fleetSettings) {
    // Not loaded without FLEET_URL: its packages may not be installed, and loading them takes 100 ms and 33 MB.
    const { openFleet } = await import('./fleet/index.ts');
    fleet = await openFleet({ settings: fleetSettings, transcribeTimeout, log });
  }
  try {
    const { wrapAsRemote, registerQueue } = fleet ?? {};
    const engines = await openEngines(settings, env, log, { timeouts, metrics, wrapAsRemote, registerQueue });
    fleet?.start(engines);
    engines.registry.warmUp();
    engines.registry.keepLooking();
    return {
      ...engines,
      fleet,
      async [Symbol.asyncDispose]() {
        await fleet?.[Symbol.asyncDispose](); // first, because it hands back the calls that engines are running
        await engines[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    await fleet?.[Symbol.asyncDispose]();
    throw error;
  }
}
