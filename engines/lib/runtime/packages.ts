/** npm packages that are too large for everybody to install: locked, and installed when the operator asks for them. */
import { hash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { delimiter, dirname, join, resolve } from 'node:path';
import type { EngineContext, ProgramExit } from '../../contract/index.ts';
import { startTimeout } from '../../../lib/abort.ts';
import { errnoOf, messageOf } from '../../../lib/errors.ts';
import { acquireLock, isLocked, lockOf } from '../../../lib/file-lock.ts';
import { findExecutable, isExecutable } from '../../../lib/find-executable.ts';
import { makeDirectory } from '../../../lib/make-directory.ts';
import { toolEnvironment } from '../tool-environment.ts';

const deadlineMinutes = 10;
const loadTimeoutMs = 60_000;
const tailLines = 20;

export interface RuntimePackages {
  /**
   * Folder with a package.json and a package-lock.json for this platform. The package.json has the `name` and `version` of
   * the runtime. The platform's package is a direct dependency: npm skips an optional one with a wrong digest in silence.
   */
  readonly manifest: string;
  /** Below node_modules, such as `sherpa-onnx-linux-x64/sherpa-onnx.node`: must exist, and is loaded once. */
  readonly files: readonly string[];
}

export interface Runtime extends RuntimePackages {
  readonly name: string;
  readonly version: string;
  /** Where it is installed. Named after its lock, so that two versions never mix. */
  readonly target: string;
  /** `node_modules/NAME` and its version, as locked. */
  readonly locked: Readonly<Record<string, { readonly version?: string }>>;
}

/** Reads what is shipped; throws where there is nothing for this platform. */
export function openRuntime(packages: RuntimePackages, { dataDir }: Pick<EngineContext, 'dataDir'>): Runtime {
  const lock = readFileSync(join(packages.manifest, 'package-lock.json'), 'utf8');
  const manifest = readFileSync(join(packages.manifest, 'package.json'), 'utf8');
  const { name, version } = JSON.parse(manifest) as Pick<Runtime, 'name' | 'version'>;
  const { packages: locked } = JSON.parse(lock) as { readonly packages: Runtime['locked'] };
  const digest = hash('sha256', lock).slice(0, 16);
  return { ...packages, name, version, locked, target: join(runtimesOf(dataDir), `${name}-${version}-${digest}`) };
}

/** A directory with `node_modules`, or why there is none. */
export type FoundRuntime = { readonly directory: string } | { readonly missing: string };

/**
 * Looks in the directory that the operator has named, and then nowhere else; else beside us, as `import` would; else where
 * `installRuntime` puts it. Cheap enough for `availability()`.
 */
export function findRuntime(runtime: Runtime, named?: string): FoundRuntime {
  const { name, version, manifest, files, target } = runtime;
  if (named !== undefined) {
    const absent = files.find((file) => !existsSync(join(named, 'node_modules', file)));
    return absent === undefined ? { directory: named } : { missing: `${named} has no node_modules/${absent}` };
  }
  const directory = [...ancestorsOf(manifest).filter((path) => isLockedVersion(runtime, path)), target].find((path) =>
    isComplete(runtime, path),
  );
  return directory === undefined ? { missing: `${name} ${version} is not installed` } : { directory };
}

/** Whether some process installs it now. */
export const isInstalling = (runtime: Runtime): boolean => isLocked(lockOf(placeOf(runtime)));

export interface Installation extends Pick<EngineContext, 'env' | 'run' | 'log'> {
  readonly signal: AbortSignal;
  /** npm reports no progress: null, and 1 at the end. */
  readonly progress: (fraction: number | null) => void;
  /** Called if another process installs it. */
  readonly onWait?: () => void;
}

/**
 * Installs the locked packages with npm, without their scripts; older versions are deleted. Does nothing if it is there;
 * concurrent calls are one installation. Rejects with the last lines of npm, or with the signal's reason, and leaves
 * nothing that counts.
 */
export async function installRuntime(runtime: Runtime, installation: Installation): Promise<void> {
  const { target, name, version } = runtime;
  const { progress, onWait } = installation;
  const late = () => new Error(`installing ${name} took more than ${deadlineMinutes} minutes`);
  using timeout = startTimeout(deadlineMinutes * 60_000, late, installation.signal);
  const { signal } = timeout;
  await makeDirectory(dirname(target));
  using _lock = await acquireLock(lockOf(placeOf(runtime)), { signal, onWait });
  await removeDirectories(dirname(target), (entry) => entry.startsWith(`${name}.installing-`));
  if (isComplete(runtime, target)) return;
  progress(null);
  const workspace = await mkdtemp(`${placeOf(runtime)}.installing-`);
  try {
    const made = join(workspace, 'runtime');
    const env = toolEnvironment(installation.env, workspace);
    await installPackages(runtime, made, env, { ...installation, signal });
    if (!isComplete(runtime, made)) throw new Error(`npm installed ${name} ${version} without ${runtime.files.join()}`);
    await load(runtime, made, env, { ...installation, signal });
    await removeDirectory(target); // incomplete
    await rename(made, target);
  } finally {
    await removeDirectory(workspace);
  }
  await removeOlder(runtime, installation);
  progress(1);
}

type Environment = Readonly<Record<string, string>>;

async function installPackages(
  { manifest }: Runtime,
  cwd: string,
  env: Environment,
  { run, signal }: Installation,
): Promise<void> {
  const npm = findNpm(env.PATH);
  await mkdir(cwd);
  for (const file of ['package.json', 'package-lock.json']) await copyFile(join(manifest, file), join(cwd, file));
  // The rest undoes settings of a user's .npmrc, and of the npm that may have started us.
  const quiet = ['--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error', '--logs-max=0'];
  const plain = [
    '--no-global',
    '--no-dry-run',
    '--package-lock',
    '--no-package-lock-only',
    '--install-strategy=hoisted',
  ];
  const args = ['ci', '--omit=dev', '--omit=optional', '--ignore-scripts', `--prefix=${cwd}`, ...quiet, ...plain];
  // npm is a script for the node beside it; its cache goes with the workspace, unless the operator has named one.
  const PATH = [dirname(npm), env.PATH ?? '', dirname(process.execPath)].join(delimiter);
  const npmEnv = { npm_config_cache: join(dirname(cwd), 'cache'), ...env, PATH };
  const exit = await run(npm, args, { cwd, env: npmEnv, signal, timeoutMs: deadlineMinutes * 60_000 });
  if (exit.code !== 0) throw new Error(`\`npm ci\` ${describe(exit)}`);
}

/** Loads the files in a child process: what a machine cannot load, such as for an older libc, fails here. */
async function load(
  { name, version, files }: Runtime,
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
  if (exit.code !== 0) throw new Error(`${name} ${version} cannot be loaded on this machine: it ${describe(exit)}`);
}

/** Throws where there is none. */
export function findNpm(path = ''): string {
  const beside = join(dirname(process.execPath), 'npm');
  const npm = isExecutable(beside) ? beside : findExecutable('npm', path);
  if (npm === undefined) throw new Error('npm not found, beside node or on PATH (fix: apt-get install npm)');
  return npm;
}

function describe({ code, signal, timedOut, stdout, stderr }: ProgramExit): string {
  const killed = timedOut ? 'took too long' : `was terminated by ${String(signal)}`;
  const lines = `${stdout}\n${stderr}`.split('\n').filter((line) => line !== '');
  return [code === null ? killed : `failed with exit code ${code}`, ...lines.slice(-tailLines)].join('\n');
}

const runtimesOf = (dataDir: string) => join(dataDir, 'runtimes');

/** The path that its temporary names begin with. */
const placeOf = ({ target, name }: Runtime) => join(dirname(target), name);

const isComplete = ({ files }: Runtime, directory: string) =>
  files.every((file) => existsSync(join(directory, 'node_modules', file)));

/** Another version may lie beside us for somebody else. */
function isLockedVersion({ files, locked }: Runtime, directory: string): boolean {
  return files.every((file) => {
    const name = file
      .split('/')
      .slice(0, file.startsWith('@') ? 2 : 1)
      .join('/');
    return versionIn(join(directory, 'node_modules', name)) === locked[`node_modules/${name}`]?.version;
  });
}

function versionIn(packagePath: string): string | undefined {
  try {
    const { version } = JSON.parse(readFileSync(join(packagePath, 'package.json'), 'utf8')) as { version?: string };
    return version;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** The directory and all above it. */
function ancestorsOf(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [path] : [path, ...ancestorsOf(parent)];
}

async function removeOlder({ target, name }: Runtime, { log }: Installation): Promise<void> {
  const isOurs = (entry: string) =>
    entry.startsWith(`${name}-`) && /^\d+\.\d+\.\d+.*-[0-9a-f]{16}$/.test(entry.slice(name.length + 1));
  try {
    await removeDirectories(dirname(target), (entry) => isOurs(entry) && join(dirname(target), entry) !== target);
  } catch (error) {
    log.warn({ reason: messageOf(error) }, 'an older runtime could not be deleted');
  }
}

async function removeDirectories(parent: string, isWanted: (entry: string) => boolean): Promise<void> {
  for (const entry of await readdir(parent)) {
    if (isWanted(entry)) await removeDirectory(join(parent, entry));
  }
}

const removeDirectory = (path: string) => rm(path, { recursive: true, force: true, maxRetries: 3 });
