/** The package as another project has it: packed, installed into an empty directory, run there. */
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import { until } from '../../support/processes.ts';
import { writeFiles } from '../../support/temporary.ts';

const home = resolve(import.meta.dirname, '../../..');

export interface InstalledPackage extends AsyncDisposable {
  /** The other project: a package.json, and node_modules with ours and what it needs. */
  readonly project: string;
  /** What is in the packed file. */
  readonly files: readonly string[];
  /** Directories with a `node`: the one of this repository, the oldest one that package.json allows, and an older one. */
  readonly nodes: { readonly newest: string; readonly oldest: string; readonly tooOld: string };
}

export const oldestNode = '22.21.0';
const tooOldNode = '20.19.0';

/** Takes about 20 seconds; needs the npm registry, or npm's cache of it. */
export async function installPackage(): Promise<InstalledPackage> {
  const directory = await mkdtemp(join(tmpdir(), 'parlance-package-'));
  const remove = () => rm(directory, { recursive: true, force: true, maxRetries: 3 });
  try {
    const project = join(directory, 'project');
    await writeFiles(project, { 'package.json': { name: 'somebody-elses', private: true, type: 'module' } });
    const printed = await npm(home, 'pack', '--json', `--pack-destination=${directory}`);
    const { filename, files } = readPacked(printed);
    const [oldest, tooOld] = await Promise.all([
      installNode(directory, oldestNode),
      installNode(directory, tooOldNode),
      npm(project, 'install', ...quietly, join(directory, filename)),
    ]);
    return {
      project,
      files,
      nodes: { newest: dirname(process.execPath), oldest, tooOld },
      [Symbol.asyncDispose]: remove,
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Returns the directory that is for the PATH. */
async function installNode(parent: string, version: string): Promise<string> {
  const directory = join(parent, `node-${version}`);
  await writeFiles(directory, { 'package.json': { name: 'old-node', private: true, allowScripts: { node: true } } });
  await npm(directory, 'install', ...quietly, `node@${version}`);
  return join(directory, 'node_modules/.bin');
}

export const quietly = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];

export async function npm(cwd: string, ...args: string[]): Promise<string> {
  const options = { cwd, timeout: 300_000, killSignal: 'SIGKILL', maxBuffer: 16 * 1024 * 1024 } as const;
  try {
    return (await promisify(execFile)('npm', args, options)).stdout;
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`npm ${args.join(' ')} fails:\n${stdout}\n${stderr}`, { cause: error });
  }
}

interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

/** Stands behind what the build has printed. */
function readPacked(printed: string): { filename: string; files: string[] } {
  const [packed] = JSON.parse(printed.slice(printed.search(/^\[$/m))) as Packed[];
  if (!packed) throw new Error(`npm pack has packed nothing: ${printed}`);
  return { filename: packed.filename, files: packed.files.map(({ path }) => path) };
}

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running extends AsyncDisposable {
  /** So far. */
  readonly said: { readonly stdout: string; readonly stderr: string };
  readonly pid: number;
  /** Resolves when it and all that it has started have ended. */
  readonly ended: Promise<Ended>;
  /** Goes to it and to what it has started. */
  readonly signal: (name: NodeJS.Signals) => void;
}

export interface StartOptions {
  /** The directory of the `node` to run on. */
  readonly node: string;
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Where other programs are found; the PATH of the test when absent. */
  readonly path?: string;
}

/** The certificates of a machine whose way to the registry has its own: npm's cache may lack what is asked for. */
const { NODE_EXTRA_CA_CERTS } = process.env;
const trust = NODE_EXTRA_CA_CERTS === undefined ? {} : { NODE_EXTRA_CA_CERTS };

/**
 * Runs a program with nothing of this repository on its PATH. Disposing of it kills it, with what it has started; so
 * does the end of the test, which may have waited for its end in vain.
 */
export function start(program: string, args: readonly string[], options: StartOptions): Running {
  const { node, cwd, env, path = process.env.PATH ?? '' } = options;
  const foreign = path.split(delimiter).filter((directory) => !directory.startsWith(home));
  const child = spawn(program, args, {
    cwd,
    env: { HOME: process.env.HOME, PATH: [node, ...foreign].join(delimiter), ...trust, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const said = { stdout: '', stderr: '' };
  let hasEnded = false;
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said.stderr += text));
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      hasEnded = true;
      resolve({ code, ...said });
    });
  });
  const pid = child.pid ?? 0;
  const signal = (name: NodeJS.Signals) => {
    if (pid > 0 && !hasEnded) process.kill(-pid, name);
  };
  onTestFinished(() => signal('SIGKILL'));
  return {
    said,
    pid,
    ended,
    signal,
    async [Symbol.asyncDispose]() {
      signal('SIGKILL');
      await ended.catch(() => undefined);
    },
  };
}

/** Of a service that is starting. */
export async function addressOf({ said, ended }: Running): Promise<string> {
  let hasEnded = false;
  void ended.finally(() => (hasEnded = true));
  const address = () => /listens on (http\S+)/.exec(said.stderr)?.[1];
  await until('the service listens', () => address() !== undefined || hasEnded, 20_000);
  const found = address();
  if (found === undefined) throw new Error(`the service does not listen:\n${said.stderr}`);
  return found;
}
