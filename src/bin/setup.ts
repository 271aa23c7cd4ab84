/**
 * `npm run setup`: prepares in the foreground what a start prepares in the background; for images and CI. With a name,
 * such as `npm run setup -- voice`, it prepares what only starts when it is asked for.
 */
import { constants } from 'node:os';
import { pino } from 'pino';
import type { Logger } from '../../engines/contract/index.ts';
import { commandLine } from '../../lib/setup-command.ts';
import { openEngines } from '../engine-host/open-engines.ts';
import type { Registry } from '../engine-host/registry.ts';
import { readCommandLine } from './command-line.ts';
import { explainStartFailure } from './startup-error.ts';
import { prepareEngines } from './prepare-engines.ts';
import { createTerminal } from './terminal.ts';
import { loadSettings } from '../settings/load.ts';

const howToStop = 'Ctrl-C stops it; what is downloaded by then is kept.';

const terminal = createTerminal();
const ended = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    process.exitCode = 128 + constants.signals[signal]; // shell convention
    ended.abort(new Error(`stopped by ${signal}`));
  });
}

const args = readCommandLine({
  command: 'setup',
  about: `Downloads and builds what local models need, then exits. Without a NAME: what the settings need at once, which is
local transcription without a settings file. With one: what only starts when it is asked for, such as voice or chat.
An interrupted setup goes on where it was.`,
  example: ['voice'],
  takes: ['config', 'env-file'],
  rest: '[NAME ...]',
});
try {
  if (args) await setUp(args.rest);
} catch (error) {
  if (!ended.signal.aborted) explainStartFailure(error); // else it has been said
}

async function setUp(names: readonly string[]): Promise<void> {
  const log = pino({ level: 'silent' });
  await using engines = await openEngines(loadSettings(process.env), process.env, log);
  const done =
    (await areKnown(names, engines.registry)) &&
    (await prepareAll(names.length > 0 ? names : [undefined], engines, log));
  if (done) terminal.print(`Everything that can be prepared is there. \`${commandLine('doctor')}\` shows what works.`);
  else process.exitCode = 1;
}

async function prepareAll(
  ids: readonly (string | undefined)[],
  { registry }: { readonly registry: Registry },
  log: Logger,
): Promise<boolean> {
  const outcomes: boolean[] = [];
  for (const id of ids) {
    const call = { signal: ended.signal, log, terminal, howToStop, isAsked: true, id };
    outcomes.push(await prepareEngines(registry, call));
  }
  return outcomes.every((isDone) => isDone);
}

async function areKnown(names: readonly string[], registry: Registry): Promise<boolean> {
  if (names.length === 0) return true;
  const known = new Set((await registry.preparations()).flatMap(({ list }) => list.map(({ id }) => id)));
  const unknown = names.filter((name) => !known.has(name));
  for (const name of unknown) {
    const there = known.size === 0 ? 'there is nothing to name' : `known: ${[...known].join(', ')}`;
    terminal.print(`setup: nothing is called "${name}"; ${there}`);
  }
  return unknown.length === 0;
}
