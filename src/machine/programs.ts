/** Child processes: each has an owner (a signal and a deadline) that ends it, and the service's own end ends them all. */
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import type { Readable } from 'node:stream';
import { createInterface } from 'node:readline';
import type { ProgramCall, ProgramExit } from '../../engines/contract.ts';

export interface RunningProgram {
  /** Whoever starts a program reads this to its end. */
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly exit: Promise<Omit<ProgramExit, 'stdout'>>;
  readonly kill: () => void;
}

type Child = ChildProcessByStdio<null, Readable, Readable>;

const running = new Set<Child>();
process.on('exit', () => running.forEach(killGroup));

/** What a program inherits; never the service's keys. */
const inherited = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'LD_LIBRARY_PATH'] as const;

const tailBytes = 65_536;

/** Where a program of this name is on PATH, or the path itself when it is one that can be executed. */
export function findProgram(name: string, searchPath = process.env.PATH ?? ''): string | undefined {
  // A relative entry would find whatever lies in the working directory.
  const folders = searchPath.split(delimiter).filter(isAbsolute);
  const candidates = isAbsolute(name) ? [name] : folders.map((folder) => join(folder, name));
  return candidates.find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false; // the next candidate may be there
  }
}

/** Linux ends a program with its parent, even when that is killed outright, if it is started through setpriv. */
const withParent = process.platform === 'linux' ? findProgram('setpriv', '/usr/bin:/bin') : undefined;

/** Starts a program without a shell. Throws when there is none, and the signal's reason when it has been aborted already. */
export function startProgram(program: string, args: readonly string[], options: ProgramCall): RunningProgram {
  options.signal.throwIfAborted();
  const path = findProgram(program);
  // setpriv would report it with an exit code that looks like the program's own.
  if (path === undefined) throw new Error(`${program} could not be started: there is no such program`);
  const [command, ...rest] = withParent ? [withParent, '--pdeathsig', 'KILL', '--', path, ...args] : [path, ...args];
  const child = spawn(command, rest, {
    cwd: options.cwd,
    env: { ...Object.fromEntries(inherited.map((name) => [name, process.env[name]])), ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true, // a process group of its own, so that its children end with it
  });
  running.add(child);
  const { stdout, stderr } = child;
  return { stdout, stderr, exit: watch(child, program, options), kill: () => killGroup(child) };
}

/** Runs a program to its end and keeps the last 64 KB of what it says. */
export async function runProgram(program: string, args: readonly string[], options: ProgramCall): Promise<ProgramExit> {
  const { stdout, stderr, exit } = startProgram(program, args, options);
  const output = tail(stdout);
  const { onLine } = options;
  if (onLine) for (const input of [stdout, stderr]) createInterface({ input }).on('line', onLine);
  return { ...(await exit), stdout: output() };
}

async function watch(child: Child, program: string, { signal, timeoutMs }: ProgramCall): RunningProgram['exit'] {
  let timedOut = false;
  const end = () => killGroup(child);
  const deadline = setTimeout(() => {
    timedOut = true;
    end();
  }, timeoutMs);
  signal.addEventListener('abort', end, { once: true });
  child.once('exit', end); // what it started ends with it
  const stderr = tail(child.stderr);
  try {
    const exit = await new Promise<{ code: number | null; signal: string | null }>((resolve, reject) => {
      child.once('error', (cause) => reject(new Error(`${program} could not be started`, { cause })));
      child.once('close', (code, killedBy) => resolve({ code, signal: killedBy }));
    });
    signal.throwIfAborted();
    return { ...exit, timedOut, stderr: stderr() };
  } finally {
    clearTimeout(deadline);
    signal.removeEventListener('abort', end);
    running.delete(child);
  }
}

function killGroup({ pid }: Child): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    // ESRCH: the group is empty. EPERM: macOS says so of a group that has only unreaped members left.
    if (!['ESRCH', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

function tail(stream: Readable): () => string {
  let kept = Buffer.alloc(0);
  stream.on('data', (chunk: Buffer) => {
    kept = Buffer.concat([kept, chunk]).subarray(-tailBytes);
  });
  stream.on('error', () => undefined); // the pipe of a killed program; its exit tells
  return () => kept.toString('utf8');
}
