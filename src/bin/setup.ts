/** `npm run setup`: prepares in the foreground what a start prepares in the background; for images and CI. */
import { constants } from 'node:os';
import { pino } from 'pino';
import { openEngines } from '../engine-host/open-engines.ts';
import { explainStartFailure } from './startup-error.ts';
import { prepareEngines } from './prepare-engines.ts';
import { loadSettings } from '../settings/load.ts';

const ended = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    process.exitCode = 128 + constants.signals[signal]; // shell convention
    ended.abort(new Error(`stopped by ${signal}`));
  });
}

try {
  const log = pino({ level: 'silent' });
  await using engines = await openEngines(loadSettings(process.env), process.env, log);
  const done = await prepareEngines(engines.registry, {
    signal: ended.signal,
    log,
    terminal: process.stderr,
    isAsked: true,
  });
  if (done) process.stderr.write('Everything that can be prepared is there. The command `doctor` shows what works.\n');
  else process.exitCode = 1;
} catch (error) {
  if (!ended.signal.aborted) explainStartFailure(error); // else it has been said
}
