/** Installs the npm packages of an asset. */
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { basename, delimiter, dirname, join, resolve } from 'node:path';
import type { EngineContext, MakeCall, PackagesAsset, ProgramExit } from '../../../engines/contract/index.ts';
import { startTimeout } from '../../../lib/abort.ts';
import { messageOf } from '../../../lib/errors.ts';
import { findNpm } from '../../../lib/find-npm.ts';
import { makeDirectory } from '../../../lib/make-directory.ts';
import { toolEnvironment } from '../../../lib/tool-environment.ts';

const deadlineMinutes = 10;
const loadTimeoutMs = 60_000;
const tailLines = 20;

type Packages = Pick<PackagesAsset, 'name' | 'version' | 'manifest' | 'files' | 'directory'>;

type Installation = Pick<EngineContext, 'env' | 'run' | 'log'> & MakeCall;

/**
 * Installs the packages with npm, without their scripts, and deletes older versions. The caller holds the lock. Rejects
 * with the last lines of npm's output, or with the signal's reason. Later runs ignore an incomplete installation.
 */
export async function installPackages(packages: Packages, installation: Installation): Promise<void> {
  const { directory, name, version } = packages;
  const late = () => new Error(`installing ${name} took more than ${deadlineMinutes} minutes`);
  using timeout = startTimeout(deadlineMinutes * 60_000, late, installation.signal);
  const { signal } = timeout;
  const parent = dirname(directory);
  await makeDirectory(parent);
  await removeDirectories(parent, (entry) => entry.startsWith(`${name}.installing-`));
  installation.progress(null);
  const workspace = await mkdtemp(join(parent, `${name}.installing-`));
  try {
    const made = join(workspace, 'runtime');
    const env = toolEnvironment(installation.env, workspace);
    await runNpm(packages, made, env, { ...installation, signal });
    if (!isComplete(packages, made))
      throw new Error(`npm installed ${name} ${version} without ${packages.files.join()}`);
    await load(packages, made, env, { ...installation, signal });
    await removeDirectory(directory); // incomplete
    await rename(made, directory);
  } finally {
    await removeDirectory(workspace);
  }
  await removeOlder(packages, installation);
}

const isComplete = ({ files }: Packages, directory: string) =>
  files.every((file) => existsSync(join(directory, 'node_modules', file)));

type Environment = Readonly<Record<string, string>>;

async function runNpm(
  { manifest }: Packages,
  cwd: string,
  env: Environment,
  { run, signal }: Installation,
): Promise<void> {
  const npm = findNpm(env.PATH);
  await mkdir(cwd);
  for (const file of ['package.json', 'package-lock.json']) await copyFile(join(manifest, file), join(cwd, file));
  // These options override settings from the user's .npmrc and from an npm process that started this one.
  const quiet = ['--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error', '--logs-max=0'];
  const plain = [
    '--no-global',
    '--no-dry-run',
    '--package-lock',
    '--no-package-lock-only',
    '--install-strategy=hoisted',
  ];
  const args = ['ci', '--omit=dev', '--omit=optional', '--ignore-scripts', `--prefix=${cwd}`, ...quiet, ...plain];
  // npm is a script that runs with the `node` in its own directory. npm's cache is deleted with the workspace, unless
  // the operator has set one.
  const PATH = [dirname(npm), env.PATH ?? '', dirname(process.execPath)].join(delimiter);
  const npmEnv = { npm_config_cache: join(dirname(cwd), 'cache'), ...env, PATH };
  const exit = await run(npm, args, { cwd, env: npmEnv, signal, timeoutMs: deadlineMinutes * 60_000 });
  if (exit.code !== 0) throw new Error(`\`npm ci\` ${outcomeOf(exit)}`);
}

/**
 * Loads the files in a child process: a binary that this machine cannot load, for example because of an older libc,
 * fails here.
 */
async function load(
  { name, version, files }: Packages,
  directory: string,
  env: Environment,
  { run, signal }: Installation,
): Promise<void> {
  const script = 'for (const file of process.argv.slice(1)) require(file); process.exit();';
  const paths = files.map((file) => join(resolve(directory), 'node_modules', file));
  const exit = await run(process.execPath, ['-e', script, ...paths], {
    cwd: '/',
    env,
    signal,
    timeoutMs: loadTimeoutMs,
  });
  if (exit.code !== 0) throw new Error(`${name} ${version} cannot be loaded on this machine: it ${outcomeOf(exit)}`);
}

function outcomeOf({ code, signal, timedOut, stdout, stderr }: ProgramExit): string {
  const killed = timedOut ? 'took too long' : `was terminated by ${String(signal)}`;
  const lines = `${stdout}\n${stderr}`.split('\n').filter((line) => line !== '');
  return [code === null ? killed : `failed with exit code ${code}`, ...lines.slice(-tailLines)].join('\n');
}

async function removeOlder({ directory, name }: Packages, { log }: Installation): Promise<void> {
  const isOurs = (entry: string) =>
    entry.startsWith(`${name}-`) && /^\d+\.\d+\.\d+.*-[0-9a-f]{16}$/.test(entry.slice(name.length + 1));
  try {
    await removeDirectories(dirname(directory), (entry) => isOurs(entry) && entry !== basename(directory));
  } catch (error) {
    log.warn({ reason: messageOf(error) }, 'an older version of a library could not be deleted');
  }
}

async function removeDirectories(parent: string, isWanted: (entry: string) => boolean): Promise<void> {
  for (const entry of await readdir(parent)) {
    if (isWanted(entry)) await removeDirectory(join(parent, entry));
  }
}

const removeDirectory = (path: string) => rm(path, { recursive: true, force: true, maxRetries: 3 });
