/**
 * `parlance models`: the models and voices that this machine can have; downloads one by its name, and removes what was
 * downloaded. A running service with the same data directory serves it at once. Exit code 1: it failed; 2: wrong usage.
 */
import { constants } from 'node:os';
import { pino } from 'pino';
import { startTimeout } from '../../lib/abort.ts';
import { didYouMean } from '../../lib/did-you-mean.ts';
import { messageOf } from '../../lib/errors.ts';
import { offeredBy, type Offered } from '../engine-host/offered.ts';
import { openEngines } from '../engine-host/open-engines.ts';
import type { Registry } from '../engine-host/registry.ts';
import { mebibytes } from '../engine-host/resident/memory-plan.ts';
import { loadSettings, type LoadedSettings } from '../settings/load.ts';
import { requireSpace } from '../system/disk-space.ts';
import { readCommandLine } from './command-line.ts';
import { prepareEngines } from './prepare-engines.ts';
import { explainStartFailure } from './startup-error.ts';
import { createTerminal } from './terminal.ts';

/** A transcription or an answer in progress may take its time. */
const removalTimeoutMs = 60_000;

const howToStop = 'Ctrl-C stops it; what is downloaded by then is kept.';

const terminal = createTerminal();
const log = pino({ level: 'silent' });
const ended = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    process.exitCode = 128 + constants.signals[signal]; // shell convention
    ended.abort(new Error(`stopped by ${signal}`));
  });
}

type Verb = (found: Offered, registry: Registry, settings: LoadedSettings) => Promise<void>;

const verbs: Readonly<Record<string, Verb>> = { pull, remove };

const grammar = {
  command: 'models',
  about: 'Lists the models and voices that this machine can have, downloads one by its name, or removes it.',
  example: ['pull', 'small'],
  takes: ['config', 'env-file'],
  rest: '[list | pull NAME ... | remove NAME ...]',
} as const;
const commandLine = readCommandLine(grammar);
if (commandLine) {
  const [verb = 'list', ...names] = commandLine.rest;
  const takesNames = Object.hasOwn(verbs, verb);
  if (verb === 'list' ? names.length === 0 : takesNames && names.length > 0) await run(verb, names).catch(explain);
  else {
    console.error(`Usage: models ${grammar.rest}`);
    process.exitCode = 2;
  }
}

function explain(error: unknown): void {
  if (!ended.signal.aborted) explainStartFailure(error); // else it has been said
}

async function run(verb: string, names: readonly string[]): Promise<void> {
  const settings = loadSettings(process.env);
  await using engines = await openEngines(settings, process.env, log);
  const { registry } = engines;
  const offered = offeredBy(await registry.preparations());
  if (verb === 'list') return list(offered);
  const unknown = names.filter((name) => !offered.some(({ id }) => id === name));
  for (const name of unknown) fail(explainUnknown(name, offered));
  const wanted = unknown.length > 0 ? [] : names.flatMap((name) => offered.find(({ id }) => id === name) ?? []);
  for (const one of wanted) await verbs[verb]?.(one, registry, settings);
}

function list(offered: readonly Offered[]): void {
  const models = offered.filter(({ model }) => model !== undefined);
  const rows = models.map(({ id, title, bytes, licence, state, model, settings }) => {
    const use = settings === undefined ? `model ${model}` : 'needs a line in the settings file';
    return [id, title, bytes === null ? '' : mebibytes(bytes), licence, state, use];
  });
  const widths = (rows[0] ?? []).map((_cell, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  for (const row of rows) console.log(row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ').trimEnd()); // prettier-ignore
  if (rows.length === 0) console.log('The engines of the settings offer no models.');
}

async function pull(found: Offered, registry: Registry, { dataDir }: LoadedSettings): Promise<void> {
  const { id, bytesLeft, model, settings } = found;
  try {
    requireSpace(dataDir, bytesLeft ?? 0);
  } catch (error) {
    return fail(`${id} is not downloaded: ${messageOf(error)}`);
  }
  const call = { signal: ended.signal, log, terminal, howToStop, isAsked: true, id };
  if (!(await prepareEngines(registry, call))) process.exitCode = 1;
  else if (settings !== undefined)
    console.log(`${id} is there. To serve it, add to the settings file:\n\n${settings}\n`);
  else console.log(model === undefined ? `${id} is there.` : `${id} is there: the model ${model}.`);
}

async function remove({ id, model, bytes, bytesLeft }: Offered, registry: Registry): Promise<void> {
  if (model === undefined) return fail(`${id} is not removed: it is no single model; \`models list\` has their names`);
  if (bytes === bytesLeft) return fail(`${id} is not there`);
  using timeout = startTimeout(removalTimeoutMs, () => new Error('it is in use; try again'), ended.signal);
  try {
    await registry.remove(id, timeout.signal);
    console.log(`${id} is removed.`);
  } catch (error) {
    fail(`${id} is not removed: ${messageOf(error)}`);
  }
}

function fail(why: string): void {
  console.error(`models: ${why}`);
  process.exitCode ??= 1;
}

function explainUnknown(name: string, offered: readonly Offered[]): string {
  const known = offered.map(({ id }) => id);
  const meant = didYouMean(name, known);
  const hint = meant === undefined ? `known: ${known.join(', ')}` : `did you mean "${meant}"?`;
  return `there is no "${name.slice(0, 100)}"; ${known.length === 0 ? 'the engines of the settings offer none' : hint}`;
}
