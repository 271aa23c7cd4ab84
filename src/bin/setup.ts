/**
 * `npm run setup`: installs in the foreground the assets that `start` would install in the background, for container
 * images and CI. With names, such as `npm run setup -- voice small`, installs these groups. Exit code 1: the command
 * failed; 2: wrong usage.
 */
import { pino } from 'pino';
import { didYouMean } from '../../lib/did-you-mean.ts';
import { messageOf } from '../../lib/errors.ts';
import { commandLine, nameSetup } from '../../lib/setup-command.ts';
import type { Assets } from '../engine-host/assets/assets.ts';
import type { GroupStatus } from '../engine-host/assets/group-status.ts';
import { openEngines } from '../engine-host/registry/open-engines.ts';
import { loadSettings } from '../settings/load.ts';
import { requireSpace } from '../system/disk-space.ts';
import { printNames } from './asset-names.ts';
import { readCommandLine } from './command-line.ts';
import { installAssets } from './install-assets.ts';
import { abortOnSignals } from './interruption.ts';
import { explainStartFailure } from './startup-error.ts';
import { createTerminal } from './terminal.ts';

const howToStop = 'Ctrl-C stops it; downloaded files are kept.';

const terminal = createTerminal();
const log = pino({ level: 'silent' });
const signal = abortOnSignals();

const args = readCommandLine({
  command: 'setup',
  about: `Downloads and builds the files that local models need, then exits. Without a NAME, it installs what the settings need
from the start: without a settings file, local transcription. NAME is one of those below.
An interrupted setup continues where it stopped.`,
  example: ['voice'],
  takes: ['config', 'env-file'],
  rest: '[NAME ...]',
  onHelp: () => printNames(),
});
try {
  if (args) await setUp(args.rest);
} catch (error) {
  if (!signal.aborted) explainStartFailure(error); // an abort has already been reported
}

async function setUp(names: readonly string[]): Promise<void> {
  const settings = loadSettings(process.env);
  await using engines = await openEngines(settings, process.env, log);
  const { assets } = engines.registry;
  const groups = await assets.list();
  const unknown = names.filter((name) => !groups.some(({ id }) => id === name));
  for (const name of unknown) fail(explainUnknown(name, groups));
  if (unknown.length > 0) return;
  const isDone = names.length === 0 ? await installAll(assets) : await installNamed(names, assets, settings.dataDir);
  if (!isDone) process.exitCode = 1;
}

async function installAll(assets: Assets): Promise<boolean> {
  const isDone = await installAssets(assets, { signal, log, terminal, howToStop, isExplicit: true });
  const left = (await assets.list()).filter(({ state, isIncluded }) => state === 'missing' && !isIncluded);
  if (isDone)
    terminal.print(`Everything that the settings need is installed. \`${commandLine('doctor')}\` shows what works.`);
  if (left.length > 0)
    terminal.print(`Not installed: ${left.map(({ id }) => id).join(', ')}. \`${nameSetup('NAME')}\` installs one.`);
  return isDone;
}

async function installNamed(names: readonly string[], assets: Assets, dataDir: string): Promise<boolean> {
  let isDone = true;
  for (const id of names) {
    const group = await assets.find(id);
    try {
      requireSpace(dataDir, group?.bytesLeft ?? 0);
    } catch (error) {
      fail(`${id} is not installed: ${messageOf(error)}`);
      isDone = false;
      continue;
    }
    if (await installAssets(assets, { signal, log, terminal, howToStop, isExplicit: true, id })) explainUse(id, group);
    else isDone = false;
  }
  return isDone;
}

function explainUse(id: string, { model, settings }: Pick<GroupStatus, 'model' | 'settings'> = {}): void {
  if (settings !== undefined)
    terminal.write(`${id} is installed. To serve it, add to the settings file:\n\n${settings}\n\n`);
  else terminal.print(model === undefined ? `${id} is installed.` : `${id} is installed: the model ${model}.`);
}

function fail(why: string): void {
  console.error(`setup: ${why}`);
  process.exitCode ??= 1;
}

function explainUnknown(name: string, groups: readonly GroupStatus[]): string {
  const known = groups.map(({ id }) => id);
  const meant = didYouMean(name, known);
  const hint = meant === undefined ? `known: ${known.join(', ')}` : `did you mean "${meant}"?`;
  return `unknown name "${name.slice(0, 100)}"; ${known.length === 0 ? 'the engines in the settings need no assets' : hint}`;
}
