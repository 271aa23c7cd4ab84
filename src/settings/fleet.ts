/** Settings of a fleet that only make sense together (docs/more-than-one-machine.md). */
import { SettingsError } from './load.ts';
import type { Settings } from './table.ts';

type FleetSettings = Pick<Settings, 'fleetRole'> & Partial<Pick<Settings, 'fleetUrl' | 'fleetSecret' | 'fleetAddress'>>;

/** Throws a `SettingsError` with one line per mistake. */
export function checkFleetSettings({ fleetUrl, fleetRole, fleetSecret, fleetAddress }: FleetSettings): void {
  const mistakes: string[] = [];
  // A node that was meant to be a worker must not become a public service.
  if (fleetUrl === undefined && fleetRole !== 'both')
    mistakes.push(`FLEET_ROLE: "${fleetRole}" needs FLEET_URL, the Redis of the fleet`);
  if (fleetUrl !== undefined && fleetSecret === undefined)
    mistakes.push('FLEET_SECRET: not set; all nodes of a fleet share one of at least 32 characters');
  if (fleetUrl !== undefined && fleetRole !== 'worker' && fleetAddress === undefined)
    mistakes.push('FLEET_ADDRESS: not set; set it to where workers reach this front, such as http://10.0.0.5:8485');
  if (mistakes.length > 0) throw new SettingsError(mistakes.join('\n'));
}
