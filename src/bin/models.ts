/**
 * `npm run models`: lists the models and voices for this machine, and removes downloaded ones. A running service with
 * the same data directory unloads a model first. Exit code 1: the command failed; 2: wrong usage.
 */
import { pino } from 'pino';
import { startTimeout } from '../../lib/abort.ts';
import { messageOf } from '../../lib/errors.ts';
import { nameSetup } from '../../lib/setup-command.ts';
import type { Assets } from '../engine-host/assets/assets.ts';
import type { GroupStatus } from '../engine-host/assets/group-status.ts';
import { openEngines } from '../engine-host/registry/open-engines.ts';
import { megabytes } from '../../lib/megabytes.ts';
import { loadSettings } from '../settings/load.ts';
import { printNames } from './asset-names.ts';
import { readCommandLine } from './command-line.ts';
import { abortOnSignals } from './interruption.ts';
import { explainStartFailure } from './startup-error.ts';

/** Time allowed for a transcription or answer in progress to finish. */
const removalTimeoutMs = 60_000;

const signal = abortOnSignals();

const grammar = {
  command: 'models',
  about: `Lists the models and voices for this machine, or removes one. \`${nameSetup('NAME')}\` installs one.`,
  example: ['remove', 'small'],
  takes: ['config', 'env-file'],
  rest: '[list | remove NAME ...]',
  onHelp: () => printNames(({ model }) => model !== undefined),
} as const;
const commandLine = readCommandLine(grammar);
if (commandLine) {
  const [verb = 'list', ...names] = commandLine.rest;
  if (verb === 'list' ? names.length === 0 : verb === 'remove' && names.length > 0) await run(names).catch(explain);
  else {
    console.error(`Usage: models ${grammar.rest}`);
    process.exitCode = 2;
  }
}

function explain(error: unknown): void {
  if (!signal.aborted) explainStartFailure(error);
}

/** Lists the models if no names are given. */
async function run(names: readonly string[]): Promise<void> {
  await using engines = await openEngines(loadSettings(process.env), process.env, pino({ level: 'silent' }));
  const { assets } = engines.registry;
  const groups = (await assets.list()).filter(({ model }) => model !== undefined);
  if (names.length === 0) list(groups);
  for (const name of names) {
    const group = groups.find(({ id }) => id === name);
    await remove(name, group, assets);
  }
}

function list(groups: readonly GroupStatus[]): void {
  const rows = groups.map(({ id, title, bytes, license, state, progress, model = id, settings, purpose }) => {
    const use = settings === undefined ? `model ${model}` : 'needs a line in the settings file';
    return [id, title, bytes === null ? '' : megabytes(bytes), license, withProgress(state, progress), use, purpose];
  });
  const widths = (rows[0] ?? []).map((_cell, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  for (const row of rows) {
    const cells = row.map((cell, column) => cell.padEnd(widths[column] ?? 0));
    console.log(cells.join('  ').trimEnd());
  }
  if (rows.length === 0) console.log('The engines in the settings have no models to install.');
}

function withProgress(state: GroupStatus['state'], progress: number | null): string {
  return progress === null ? state : `${state} ${Math.floor(100 * progress)} %`;
}

async function remove(name: string, group: GroupStatus | undefined, assets: Assets): Promise<void> {
  if (group === undefined) return fail(`unknown model "${name.slice(0, 100)}"; \`models list\` lists them`);
  using timeout = startTimeout(removalTimeoutMs, () => new Error('it is in use; try again'), signal);
  try {
    const isRemoved = await assets.remove(name, timeout.signal);
    if (isRemoved) console.log(`Removed ${name}.`);
    else fail(`${name} is not installed`);
  } catch (error) {
    fail(`${name} was not removed: ${messageOf(error)}`);
  }
}

function fail(why: string): void {
  console.error(`models: ${why}`);
  process.exitCode ??= 1;
}
