/** The engines of the settings, and the fleet that this machine belongs to, if any. */
import type { EngineTimeouts } from './engine-host/guard/timeouts.ts';
import type { ParentLogger } from './engine-host/context.ts';
import { openEngines, type OpenEngines } from './engine-host/open-engines.ts';
import type { Fleet } from './fleet/index.ts';
import type { Metrics } from './metrics/metrics.ts';
import { readFleet, type FleetSettings } from './settings/fleet.ts';
import type { Environment, LoadedSettings } from './settings/load.ts';

export interface OpenNode extends OpenEngines {
  /** Undefined without FLEET_URL. */
  readonly fleet: Fleet | undefined;
}

export interface NodeOptions {
  readonly settings: LoadedSettings;
  readonly env: Environment;
  readonly log: ParentLogger;
  readonly limits?: Partial<EngineTimeouts> | undefined;
  readonly metrics?: Metrics | undefined;
}

/** Throws a `RegistryError` or a `SettingsError`. */
export async function openNode({ settings, env, log, limits, metrics }: NodeOptions): Promise<OpenNode> {
  const fleetSettings = readFleet(settings);
  const fleet = fleetSettings && (await openFleet(fleetSettings, settings, log));
  try {
    const { wrapAsRemote, noteQueue } = fleet ?? {};
    const engines = await openEngines(settings, env, log, { limits, metrics, wrapAsRemote, noteQueue });
    fleet?.start(engines);
    return {
      ...engines,
      fleet,
      async [Symbol.asyncDispose]() {
        await fleet?.[Symbol.asyncDispose](); // first: it hands back what engines are at work on
        await engines[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    await fleet?.[Symbol.asyncDispose]();
    throw error;
  }
}

/** Not loaded without FLEET_URL: its packages may not be installed, and take 100 ms and 33 MB. */
async function openFleet(
  settings: FleetSettings,
  { transcribeTimeout }: LoadedSettings,
  log: ParentLogger,
): Promise<Fleet> {
  const fleet = await import('./fleet/index.ts');
  return fleet.openFleet({ settings, transcribeTimeout, log });
}
