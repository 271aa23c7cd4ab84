import { RegistryError } from '../engine-host/registry.ts';
import { SettingsError } from '../settings/load.ts';

/** Tells a person what is wrong with the settings; anything else is a defect and keeps its stack. */
export function explainStartFailure(error: unknown): void {
  const { syscall } = error as NodeJS.ErrnoException;
  const isMistake = error instanceof SettingsError || error instanceof RegistryError || syscall === 'listen';
  if (!isMistake) throw error;
  process.stderr.write(`Parlance cannot start.\n${(error as Error).message.replace(/^/gm, '  ')}\n`);
  process.exitCode = 1;
}
