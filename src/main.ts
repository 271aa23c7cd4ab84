/** Starts the service: settings, engines, server, signals; and prepares in the background what is missing. */
import { pino } from 'pino';
import { describeService } from './describe.ts';
import { prepareEngines } from './prepare.ts';
import { startService, type Service } from './service.ts';
import { loadSettings } from './settings/load.ts';
import { explainStartFailure } from './start-failure.ts';

const graceMs = 10_000;

try {
  const settings = loadSettings(process.env);
  const log = pino({ level: settings.logLevel });
  const service = await startService({ settings, env: process.env, log });
  const ended = endOnSignals(service);
  // For people, on stderr; stdout is the log's.
  process.stderr.write(`${await describeService(service)}\n`);
  if (settings.transcribeSetup) {
    const preparation = prepareEngines(service.registry, { signal: ended, log, terminal: process.stderr });
    preparation.catch((error: unknown) => log.debug({ err: error }, 'the preparation was ended'));
  }
} catch (error) {
  explainStartFailure(error);
}

/** The first signal lets requests in flight finish; a second one ends at once. */
function endOnSignals(service: Service): AbortSignal {
  const ended = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (ended.signal.aborted) process.exit(1);
      ended.abort(new Error(`ended by ${signal}`));
      void service.stop(graceMs).then(() => process.exit(0));
    });
  }
  return ended.signal;
}
