/**
 * npm packages that the host of an engine needs and the service does not: installed on demand into
 * DATA_DIR/runtimes, from a package.json and a package-lock.json that are shipped with the engine.
 */
import { hash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { startTimeout } from '../../../lib/abort.ts';
import { findExecutable } from '../../../lib/find-executable.ts';
import { makeDirectory } from '../../../lib/make-directory.ts';
import type { EngineContext, ProgramExit } from '../../contract/index.ts';
import { acquireLock, lockOf } from '../download/lock.ts';
import { toolEnvironment } from '../tool-environment.ts';

export interface RuntimePackages {
  /** Begins the name of the directory; letters, digits and `-`. */
  readonly name: string;
  /**
   * Directory of package.json and package-lock.json, for this platform. All packages are direct dependencies: npm
   * leaves out an optional one whose digest is wrong, and says nothing.
   */
  readonly manifests: string;
  /** Below `node_modules`; they must be there afterwards. */
  readonly files: readonly string[];
}

export interface Installation extends Pick<EngineContext, 'dataDir' | 'env' | 'run' | 'log'> {
  readonly signal: AbortSignal;
  /** Called if another process installs it. */
  readonly onWait?: () => void;
  /** Loads what is in the directory once, in a program of its own. Rejects with the reason why this machine cannot. */
  readonly check: (directory: string) => Promise<void>;
}

const deadlineMinutes = 20;
const lastLines = 20;
const unfinished = '.installing-';
const manifestNames = ['package.json', 'package-lock.json'] as const;

/** Where it is, or will be: a new lock never mixes with what an older one has installed. */
export function directoryOf({ name, manifests }: RuntimePackages, dataDir: string): string {
  const lock = readFileSync(join(manifests, 'package-lock.json'));
  return join(dataDir, 'runtimes', `${name}-${hash('sha256', lock).slice(0, 12)}`);
}

/** Undefined if it is not installed. */
export function findInstalled(packages: RuntimePackages, dataDir: string): string | undefined {
  const directory = directoryOf(packages, dataDir);
  return missingFrom(directory, packages) === undefined ? directory : undefined;
}

/**
 * Installs the packages, unless they are there, and resolves with their directory. Runs none of their scripts. Only one
 * installation runs per data directory and name; concurrent calls wait for it. Rejects with an error that states the
 * problem or contains npm's last lines, or with the signal's reason; then nothing is left.
 */
export async function installPackages(packages: RuntimePackages, installation: Installation): Promise<string> {
  const { dataDir, log } = installation;
  const target = directoryOf(packages, dataDir);
  const late = () => new Error(`installing ${packages.name} took more than ${deadlineMinutes} minutes`);
  using timeout = startTimeout(deadlineMinutes * 60_000, late, installation.signal);
  const { signal } = timeout;
  await makeDirectory(dirname(target));
  const lock = lockOf(join(dirname(target), packages.name));
  await using _lock = await acquireLock(lock, { signal, log, onWait: installation.onWait });
  if (missingFrom(target, packages) === undefined) return target;
  await removeOthers(target, packages);
  await using workspace = await temporaryDirectory(target, packages);
  for (const name of manifestNames) await copyFile(join(packages.manifests, name), join(workspace.path, name));
  await runNpm(workspace.path, { ...installation, signal });
  const missing = missingFrom(workspace.path, packages);
  if (missing !== undefined) throw new Error(`npm has installed ${packages.name} without ${missing}`);
  await installation.check(workspace.path);
  await rm(target, { recursive: true, force: true });
  await rename(workspace.path, target);
  return target;
}

function missingFrom(directory: string, { files }: RuntimePackages): string | undefined {
  return files.find((file) => !existsSync(join(directory, 'node_modules', file)));
}

/** Of older versions, and of installations that were killed. We hold the lock, so none of them is at work. */
async function removeOthers(target: string, { name }: RuntimePackages): Promise<void> {
  const isOurs = new RegExp(`^(${unfinished})?${name}-[^-]+$`);
  for (const entry of await readdir(dirname(target))) {
    if (isOurs.test(entry) && entry !== basename(target)) await remove(join(dirname(target), entry));
  }
}

async function temporaryDirectory(target: string, { name }: RuntimePackages) {
  const path = await mkdtemp(join(dirname(target), `${unfinished}${name}-`));
  return { path, [Symbol.asyncDispose]: () => remove(path) };
}

const remove = (path: string): Promise<void> => rm(path, { recursive: true, force: true, maxRetries: 3 });

async function runNpm(directory: string, { env, run, log, signal }: Installation): Promise<void> {
  const npm = findNpm(env.PATH);
  if (npm === undefined) throw new Error('npm not found (fix: apt-get install npm)');
  const own = join(directory, '.npm'); // the home directory may be read-only
  await mkdir(own);
  const call = {
    ...{ cwd: directory, signal, timeoutMs: deadlineMinutes * 60_000 },
    env: { npm_config_cache: own, ...toolEnvironment(env, own) },
    onLine: (line: string) => log.debug({ line }, 'installing packages'),
  };
  const exit = await run(npm, ['ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund'], call);
  if (exit.code !== 0) throw failure(exit);
  await remove(own);
}

/** The one of the Node.js that runs us, else the first on PATH. */
function findNpm(path: string | undefined): string | undefined {
  return findExecutable(join(dirname(process.execPath), 'npm')) ?? findExecutable('npm', path ?? '');
}

function failure({ code, signal, stdout, stderr }: ProgramExit): Error {
  const ended = code === null ? `was terminated by ${String(signal)}` : `failed with exit code ${code}`;
  const lines = `${stdout}\n${stderr}`.split('\n').filter((line) => line !== '');
  return new Error([`\`npm ci\` ${ended}`, ...lines.slice(-lastLines)].join('\n'));
}
