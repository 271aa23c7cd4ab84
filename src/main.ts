/** Starts the service: settings, engines, server, signals. */
import { pino } from 'pino';
import { RegistryError } from '../engines/registry.ts';
import { startService, type Service } from './service.ts';
import { loadSettings, SettingsError } from './settings/load.ts';
import { describeService } from './describe.ts';

const graceMs = 10_000;

/** For people, on stderr; stdout is the log's. */
const say = (text: string) => process.stderr.write(`${text}\n`);

try {
  const settings = loadSettings(process.env);
  const log = pino({ level: settings.logLevel });
  const service = await startService({ settings, env: process.env, log });
  endOnSignals(service);
  say(await describeService(service));
} catch (error) {
  if (!isSettingsMistake(error)) throw error;
  say(`Parlance cannot start.\n${error.message.replace(/^/gm, '  ')}`);
  process.exitCode = 1;
}

function isSettingsMistake(error: unknown): error is Error {
  const { syscall } = error as NodeJS.ErrnoException;
  return error instanceof SettingsError || error instanceof RegistryError || syscall === 'listen';
}

/** The first signal lets requests in flight finish; a second one ends at once. */
function endOnSignals(service: Service): void {
  let ending = false;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (ending) process.exit(1);
      ending = true;
      void service.stop(graceMs).then(() => process.exit(0));
    });
  }
}
