/** The doctor's findings about the fleet of the settings. */
import type { FleetInspection } from '../fleet/inspect.ts';
import { readFleet } from '../settings/fleet.ts';
import { SettingsError, type LoadedSettings } from '../settings/load.ts';

export interface FleetCheck extends FleetInspection {
  /** False: this node cannot start, or cannot work. */
  readonly isUsable: boolean;
}

export async function checkFleet(settings: LoadedSettings): Promise<FleetCheck> {
  try {
    const fleet = readFleet(settings);
    if (fleet === undefined) return { findings: [], isUsable: true };
    const { inspectFleet } = await import('../fleet/inspect.ts'); // its packages are there only with FLEET_URL
    const inspection = await inspectFleet(fleet);
    return { ...inspection, isUsable: inspection.findings.every(({ ok, isOptional }) => ok || isOptional) };
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    const findings = error.message.split('\n').map((detail) => ({ what: 'settings', ok: false, detail }));
    return { findings, isUsable: false };
  }
}
