/** Starts the service: settings, engines, server, signals; and prepares in the background what is missing. */
import { pino } from 'pino';
import type { Logger } from '../engines/contract.ts';
import { describeService } from './describe.ts';
import { shrinkHeap } from './machine/shrink-heap.ts';
import { prepareEngines } from './prepare.ts';
import { startService, type Service } from './service.ts';
import { loadSettings } from './settings/load.ts';
import { explainStartFailure } from './start-failure.ts';

/** Docker kills ten seconds after it has asked. */
const graceMs = 7_000;

const sandboxNotice =
  'THIS IS A SANDBOX (PARLANCE_SANDBOX): the engine `sandbox` makes its answers up, and `Prefer: code=NNN` has any declared one.';

try {
  const settings = loadSettings(process.env);
  const log = pino({ level: settings.logLevel });
  const service = await startService({ settings, env: process.env, log });
  const ended = new AbortController();
  const preparation =
    settings.transcribeSetup && settings.transcribeEnabled ? prepare(service, log, ended.signal) : Promise.resolve();
  endOnSignals(service, ended, preparation);
  shrinkHeap();
  // For people, on stderr; stdout is the log's.
  const description = describeService(service).catch((err: unknown) => {
    log.error({ err }, 'what works could not be described');
    return `Parlance listens on ${service.url}`;
  });
  process.stderr.write(`${await description}\n`);
  if (settings.sandbox) process.stderr.write(`${sandboxNotice}\n`);
} catch (error) {
  explainStartFailure(error);
}

/** In the background; begun before anything is described, which then says `preparing`. Resolves when nothing of it is left. */
async function prepare({ registry }: Service, log: Logger, signal: AbortSignal): Promise<void> {
  try {
    await prepareEngines(registry, { signal, log, terminal: process.stderr });
  } catch (error) {
    log.debug({ err: error }, 'the preparation was ended');
  }
}

/** The first signal lets requests in flight finish; a second one ends at once. */
function endOnSignals(service: Service, ended: AbortController, preparation: Promise<void>): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (ended.signal.aborted) process.exit(1);
      ended.abort(new Error(`ended by ${signal}`));
      void Promise.all([service.stop(graceMs), preparation]).then(() => process.exit(0));
    });
  }
}
