/** The service as its user starts it: `node src/bin/start.ts` in a process of its own, which a test can kill, measure and wall in. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { raceAbort, startTimeout } from '../../lib/abort.ts';
import { directoryVariable } from '../contract/coverage/recorder.ts';
import { compileCacheVariable } from './run-directories.ts';
import { findProgram } from './programs.ts';
import type { LogLine } from './service.ts';
import { writeFiles } from './temporary.ts';

export interface ProcessOptions {
  /** Beside PATH, HOME and DATA_DIR, which are set anyway. */
  readonly env?: Readonly<Record<string, string>>;
  /** Text of parlance.config.yaml. */
  readonly config?: string;
  /** More files beside parlance.config.yaml, by name: engines of the test's own. */
  readonly files?: Readonly<Record<string, string>>;
  /** A data directory that outlives the process; absent: one of its own. */
  readonly dataDir?: string;
  /** What the process is started through, given its data directory. It ends in an `exec`, so that the pid is Node's. */
  readonly through?: (dataDir: string) => readonly string[];
  /** Its command line. */
  readonly args?: readonly string[];
  /** Of Node itself. */
  readonly nodeOptions?: readonly string[];
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A process of this repository's. Disposing of it kills it and removes its directory. */
export interface ChildProcess extends AsyncDisposable {
  readonly pid: number;
  /** Its working directory and home, where its settings are too. */
  readonly dir: string;
  readonly dataDir: string;
  /** What it has said so far. */
  readonly said: { readonly stdout: string; readonly stderr: string };
  /** Resolves when it has ended and has said everything. */
  readonly exit: Promise<Exit>;
  kill(signal: NodeJS.Signals): void;
}

export interface ChildService extends ChildProcess {
  /** `http://127.0.0.1:<port>`, as seen from where it runs. */
  readonly url: string;
  /** Its log so far. */
  log(): LogLine[];
  /** Its resident memory in bytes, now and at its highest (proc(5), VmRSS and VmHWM). */
  memory(): { readonly now: number; readonly peak: number };
  /** What of requests is on the disk now, seen from within its own mounts. */
  leftovers(): Promise<string[]>;
}

const home = join(import.meta.dirname, '../..');
const listeningWithinMs = 60_000; // on a machine that is busy otherwise

/** Starts the service and resolves once it listens. It ends with the test. */
export async function startChildService(options: ProcessOptions = {}): Promise<ChildService> {
  const service = await spawnService(options);
  onTestFinished(() => service[Symbol.asyncDispose]());
  return service;
}

/** Sends the signal until the process has ended: the same one within 500 ms counts once. */
export async function insist(child: ChildProcess, signal: NodeJS.Signals): Promise<Exit> {
  child.kill(signal);
  const timer = setInterval(() => child.kill(signal), 100);
  try {
    return await child.exit;
  } finally {
    clearInterval(timer);
  }
}

/**
 * How the process ends, or undefined when it has not ended in 50 s. These services give ten minutes to what is in flight,
 * and a connection is kept alive for 75 s.
 */
export async function endsSoon(child: ChildProcess): Promise<Exit | undefined> {
  using timeout = startTimeout(50_000, () => new Error('it has not ended'));
  return await raceAbort(child.exit, timeout.signal).catch(() => undefined);
}

/** Lets the process note what it answers, where the test run has asked for that. */
const coverage = (() => {
  const directory = process.env[directoryVariable];
  if (directory === undefined) return { env: {}, nodeOptions: [] };
  const preload = new URL('../contract/coverage/preload.ts', import.meta.url);
  return { env: { [directoryVariable]: directory }, nodeOptions: ['--import', preload.href] };
})();

/** Starts the service and resolves once it listens; whoever calls this disposes of it. */
export async function spawnService(options: ProcessOptions = {}): Promise<ChildService> {
  // MALLOC_ARENA_MAX as in `npm start`: the decoding threads would leave their memory unused.
  const defaults = { PORT: '0', TRANSCRIBE_SETUP: 'off', SHUTDOWN_GRACE: '600', MALLOC_ARENA_MAX: '1' };
  const env = { ...defaults, ...coverage.env, ...options.env };
  const nodeOptions = [...coverage.nodeOptions, ...(options.nodeOptions ?? [])];
  const child = await spawnProcess('src/bin/start.ts', { ...options, env, nodeOptions });
  try {
    return toService(child, await addressOf(child));
  } catch (error) {
    await child[Symbol.asyncDispose]();
    throw error;
  }
}

/** Runs one of the house's programs, such as `src/bin/doctor.ts`; it ends with the test. */
export async function startProcess(script: string, options: ProcessOptions = {}): Promise<ChildProcess> {
  const child = await spawnProcess(script, options);
  onTestFinished(() => child[Symbol.asyncDispose]());
  return child;
}

/** What the programs of a run compile, the next ones load, as after `npm start`. */
export const compileCache: NodeJS.ProcessEnv = { NODE_COMPILE_CACHE: process.env[compileCacheVariable] };

const setpriv = findProgram('setpriv');

/** The command line of a program that ends with the test's own process, whatever ends that (Linux). */
export function tiedToUs(program: string, ...args: string[]): [string, ...string[]] {
  return setpriv === undefined ? [program, ...args] : [setpriv, '--pdeathsig', 'KILL', '--', program, ...args];
}

/** The same; whoever calls this disposes of it. */
export async function spawnProcess(script: string, options: ProcessOptions): Promise<ChildProcess> {
  const { env = {}, config, files = {}, through = () => [], args: own = [], nodeOptions = [] } = options;
  const dir = await mkdtemp(join(tmpdir(), 'parlance-child-'));
  const dataDir = options.dataDir ?? join(dir, 'data');
  await mkdir(dataDir, { recursive: true });
  await writeFiles(dir, { ...files, ...(config !== undefined && { 'parlance.config.yaml': config }) });
  const commandLine = [...through(dataDir), process.execPath, ...nodeOptions, join(home, script), ...own];
  const [program, ...args] = tiedToUs(...(commandLine as [string, ...string[]]));
  const child = spawn(program, args, {
    cwd: dir,
    env: { PATH: process.env.PATH, HOME: dir, DATA_DIR: dataDir, ...compileCache, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exit = new Promise<Exit>((resolve) => child.once('close', (code, signal) => resolve({ code, signal })));
  const said = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said.stderr += text));
  return {
    pid: child.pid!,
    dir,
    dataDir,
    said,
    exit,
    kill: (signal) => void child.kill(signal),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exit;
      await rm(dir, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

async function addressOf({ said, exit }: ChildProcess): Promise<string> {
  const deadline = performance.now() + listeningWithinMs;
  const state = { ended: false };
  void exit.then(() => (state.ended = true));
  for (;;) {
    const [, address] = /listens on (http\S+)/.exec(said.stderr) ?? [];
    if (address !== undefined) return address;
    if (state.ended || performance.now() > deadline) throw new Error(`the service does not listen:\n${said.stderr}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

function toService(child: ChildProcess, url: string): ChildService {
  const { pid, dataDir, said } = child;
  return {
    ...child,
    url,
    log: () => said.stdout.split('\n').flatMap((line) => (line.endsWith('}') ? [JSON.parse(line) as LogLine] : [])),
    memory() {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8');
      const bytesOf = (field: string) => Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1]) * 1024;
      return { now: bytesOf('VmRSS'), peak: bytesOf('VmHWM') };
    },
    leftovers: () => requestFilesIn(`/proc/${pid}/root${dataDir}`),
  };
}

/** What of requests lies in a data directory: all that is within the directories of services. */
export async function requestFilesIn(dataDir: string): Promise<string[]> {
  const files = await readdir(join(dataDir, 'tmp'), { recursive: true });
  return files.filter((path) => path.includes('/'));
}
