/** Reads the fleet settings as one value (docs/more-than-one-machine.md). */
import { SettingsError } from './load.ts';
import type { Settings } from './table.ts';

export interface FrontSettings {
  readonly role: 'front' | 'both';
  readonly address: string;
  /** Address and port to listen on. Default: the address and port of `address`. */
  readonly listen: string | undefined;
}

export type FleetSettings = (FrontSettings | { readonly role: 'worker' }) & {
  readonly url: string;
  readonly secret: string;
  readonly prefix: string;
  /** Instances that workers run. Default: all instances that have only local models. */
  readonly engines: readonly string[] | undefined;
};

type FleetRows = Pick<Settings, Extract<keyof Settings, `fleet${string}`>>;

/**
 * Returns undefined without FLEET_URL. Throws a `SettingsError` with one line per mistake. Separate from loading the
 * settings, so that the doctor can list the mistakes and they do not affect commands that need no fleet.
 */
export function readFleet(settings: FleetRows): FleetSettings | undefined {
  const { fleetUrl: url, fleetRole: role, fleetSecret: secret, fleetAddress: address, fleetListen: listen } = settings;
  if (url === undefined) {
    if (role === 'both') return undefined;
    // A node that was meant to join a fleet must not become a service of its own.
    throw new SettingsError(`FLEET_ROLE: "${role}" needs FLEET_URL, the Redis of the fleet`);
  }
  const missing: string[] = [];
  if (secret === undefined)
    missing.push('FLEET_SECRET: not set; all nodes of a fleet share one of at least 32 characters');
  if (role !== 'worker' && address === undefined)
    missing.push('FLEET_ADDRESS: not set; set it to where workers reach this front, such as http://10.0.0.5:8485');
  const own = role === 'worker' ? { role } : address !== undefined && { role, address, listen };
  if (secret === undefined || !own) throw new SettingsError(missing.join('\n'));
  return { ...own, url, secret, prefix: settings.fleetPrefix, engines: settings.fleetEngines };
}
