/** `npm run setup`: prepares in the foreground what a start prepares in the background; for images and for CI. */
import { pino } from 'pino';
import { openEngines } from './engines.ts';
import { explainStartFailure } from './start-failure.ts';
import { prepareEngines } from './prepare.ts';
import { loadSettings } from './settings/load.ts';

try {
  const log = pino({ level: 'silent' });
  await using engines = await openEngines(loadSettings(process.env), process.env, log);
  const ended = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => ended.abort(new Error(`ended by ${signal}`)));
  const done = await prepareEngines(engines.registry, { signal: ended.signal, log, terminal: process.stderr });
  if (done) process.stderr.write('Everything that can be prepared is there. `npm run doctor` says what works.\n');
  else process.exitCode = 1;
} catch (error) {
  explainStartFailure(error);
}
