/**
 * `npm run setup`: installs in the foreground what a start installs in the background; for images and CI. With names, such as
 * `npm run setup -- voice small`, it installs what these are. Exit code 1: it failed; 2: wrong usage.
 */
import { pino } from 'pino';
import { didYouMean } from '../../lib/did-you-mean.ts';
import { messageOf } from '../../lib/errors.ts';
import { commandLine, nameSetup } from '../../lib/setup-command.ts';
import type { Assets, Offer } from '../engine-host/assets/assets.ts';
import { openEngines } from '../engine-host/registry/open-engines.ts';
import { loadSettings } from '../settings/load.ts';
import { requireSpace } from '../system/disk-space.ts';
import { readCommandLine } from './command-line.ts';
import { installAssets } from './install-assets.ts';
import { abortOnSignals } from './interruption.ts';
import { explainStartFailure } from './startup-error.ts';
import { createTerminal } from './terminal.ts';

const howToStop = 'Ctrl-C stops it; what is downloaded by then is kept.';

const terminal = createTerminal();
const log = pino({ level: 'silent' });
const signal = abortOnSignals();

const args = readCommandLine({
  command: 'setup',
  about: `Downloads and builds what local models need, then exits. Without a NAME: what the settings need at once, which is
local transcription without a settings file. With names: what they are, such as voice, chat, or a model of \`models\`.
An interrupted setup goes on where it was.`,
  example: ['voice'],
  takes: ['config', 'env-file'],
  rest: '[NAME ...]',
});
try {
  if (args) await setUp(args.rest);
} catch (error) {
  if (!signal.aborted) explainStartFailure(error); // else it has been said
}

async function setUp(names: readonly string[]): Promise<void> {
  const settings = loadSettings(process.env);
  await using engines = await openEngines(settings, process.env, log);
  const { assets } = engines.registry;
  const offers = await assets.list();
  const unknown = names.filter((name) => !offers.some(({ id }) => id === name));
  for (const name of unknown) fail(explainUnknown(name, offers));
  if (unknown.length > 0) return;
  const isDone = names.length === 0 ? await installAll(assets) : await installNamed(names, assets, settings.dataDir);
  if (!isDone) process.exitCode = 1;
}

async function installAll(assets: Assets): Promise<boolean> {
  const isDone = await installAssets(assets, { signal, log, terminal, howToStop, isAsked: true });
  const left = (await assets.list()).filter(({ state, isIncluded }) => state === 'missing' && !isIncluded);
  if (isDone)
    terminal.print(`All that the settings need at once is there. \`${commandLine('doctor')}\` shows what works.`);
  if (left.length > 0)
    terminal.print(`Left out: ${left.map(({ id }) => id).join(', ')}. \`${nameSetup('NAME')}\` installs one.`);
  return isDone;
}

async function installNamed(names: readonly string[], assets: Assets, dataDir: string): Promise<boolean> {
  let isDone = true;
  for (const id of names) {
    const offer = await assets.find(id);
    try {
      requireSpace(dataDir, offer?.bytesLeft ?? 0);
    } catch (error) {
      fail(`${id} is not installed: ${messageOf(error)}`);
      isDone = false;
      continue;
    }
    if (await installAssets(assets, { signal, log, terminal, howToStop, isAsked: true, id })) explainUse(id, offer);
    else isDone = false;
  }
  return isDone;
}

function explainUse(id: string, { model, settings }: Pick<Offer, 'model' | 'settings'> = {}): void {
  if (settings !== undefined)
    terminal.write(`${id} is there. To serve it, add to the settings file:\n\n${settings}\n\n`);
  else terminal.print(model === undefined ? `${id} is there.` : `${id} is there: the model ${model}.`);
}

function fail(why: string): void {
  console.error(`setup: ${why}`);
  process.exitCode ??= 1;
}

function explainUnknown(name: string, offers: readonly Offer[]): string {
  const known = offers.map(({ id }) => id);
  const meant = didYouMean(name, known);
  const hint = meant === undefined ? `known: ${known.join(', ')}` : `did you mean "${meant}"?`;
  return `there is no "${name.slice(0, 100)}"; ${known.length === 0 ? 'the engines of the settings need nothing' : hint}`;
}
