/**
 * `npm run models`: lists the models and voices that this machine can have, and removes what was downloaded. A running
 * service with the same data directory unloads it first. Exit code 1: it failed; 2: wrong usage.
 */
import { pino } from 'pino';
import { startTimeout } from '../../lib/abort.ts';
import { messageOf } from '../../lib/errors.ts';
import { nameSetup } from '../../lib/setup-command.ts';
import type { Assets, Offer } from '../engine-host/assets/assets.ts';
import { openEngines } from '../engine-host/registry/open-engines.ts';
import { mebibytes } from '../engine-host/resident/memory-plan.ts';
import { loadSettings } from '../settings/load.ts';
import { readCommandLine } from './command-line.ts';
import { abortOnSignals } from './interruption.ts';
import { explainStartFailure } from './startup-error.ts';

/** A transcription or an answer in progress may take its time. */
const removalTimeoutMs = 60_000;

const signal = abortOnSignals();

const grammar = {
  command: 'models',
  about: `Lists the models and voices that this machine can have, or removes one. \`${nameSetup('NAME')}\` installs one.`,
  example: ['remove', 'small'],
  takes: ['config', 'env-file'],
  rest: '[list | remove NAME ...]',
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

/** Without names: lists them. */
async function run(names: readonly string[]): Promise<void> {
  await using engines = await openEngines(loadSettings(process.env), process.env, pino({ level: 'silent' }));
  const { assets } = engines.registry;
  const offers = (await assets.list()).filter(({ model }) => model !== undefined);
  if (names.length === 0) list(offers);
  for (const name of names) await remove(name, offers.find(({ id }) => id === name), assets); // prettier-ignore
}

function list(offers: readonly Offer[]): void {
  const rows = offers.map(({ id, title, bytes, licence, state, model = id, settings }) => {
    const use = settings === undefined ? `model ${model}` : 'needs a line in the settings file';
    return [id, title, bytes === null ? '' : mebibytes(bytes), licence, state, use];
  });
  const widths = (rows[0] ?? []).map((_cell, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  for (const row of rows) console.log(row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ').trimEnd()); // prettier-ignore
  if (rows.length === 0) console.log('The engines of the settings offer no models.');
}

async function remove(name: string, offer: Offer | undefined, assets: Assets): Promise<void> {
  if (offer === undefined) return fail(`there is no model "${name.slice(0, 100)}"; \`models list\` has their names`);
  using timeout = startTimeout(removalTimeoutMs, () => new Error('it is in use; try again'), signal);
  try {
    const isRemoved = await assets.remove(name, timeout.signal);
    if (isRemoved) console.log(`${name} is removed.`);
    else fail(`${name} is not there`);
  } catch (error) {
    fail(`${name} is not removed: ${messageOf(error)}`);
  }
}

function fail(why: string): void {
  console.error(`models: ${why}`);
  process.exitCode ??= 1;
}
