/** The names that `setup` and `models` accept, for their `--help`. */
import { pino } from 'pino';
import { messageOf } from '../../lib/errors.ts';
import type { GroupStatus } from '../engine-host/assets/group-status.ts';
import { openEngines } from '../engine-host/registry/open-engines.ts';
import { loadSettings } from '../settings/load.ts';

/**
 * The settings determine the engines. If the settings are invalid, only the names are missing, because the usage has
 * already been printed.
 */
export async function printNames(isIncluded: (group: GroupStatus) => boolean = () => true): Promise<void> {
  try {
    await using engines = await openEngines(loadSettings(process.env), process.env, pino({ level: 'silent' }));
    const groups = (await engines.registry.assets.list()).filter(isIncluded);
    if (groups.length === 0) return console.log('\nThe engines in the settings have no models to install.');
    const width = Math.max(...groups.map(({ id }) => id.length));
    console.log(['\nNAME is one of:', ...groups.map(({ id, title }) => `  ${id.padEnd(width)}  ${title}`)].join('\n'));
  } catch (error) {
    console.log(`\nThe settings decide what NAME is, and they cannot be used: ${messageOf(error)}`);
  }
}
