/** Child processes: each is ended by its signal or timeout, and all of them when the service exits. */
import { spawn, type ChildProcess, type ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { basename } from 'node:path';
import {
  EngineError,
  type ProgramCall,
  type ProgramExit,
  type RunningProgram,
  type StreamingCall,
} from '../../engines/contract/index.ts';
import { onAbort } from '../../lib/abort.ts';
import { findExecutable } from '../../lib/find-executable.ts';
import { isAtMachineLimit } from '../../lib/resource-limits.ts';
import { LineSplitter } from './line-splitter.ts';
import { beginSpan, endSpan, type Attributes } from '../trace.ts';

export interface StartedProgram {
  /** Must be read to its end. */
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly exit: Promise<Omit<ProgramExit, 'stdout'>>;
  readonly kill: () => void;
}

interface NamedCall extends ProgramCall {
  /** Its name in spans, where the program is only what starts it. */
  readonly name?: string;
}

type Child = ChildProcessByStdio<Writable | null, Readable, Readable>;

const running = new Set<Pick<ChildProcess, 'pid'>>();
process.on('exit', () => running.forEach(killGroup));

/** Inherited environment variables; never API keys. */
const inherited = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'LD_LIBRARY_PATH'] as const;

const tailBytes = 65_536;

/** On Linux, setpriv ends a program with its parent, even if the parent is SIGKILLed. */
const withParent = process.platform === 'linux' ? findExecutable('setpriv', '/usr/bin:/bin') : undefined;

/** The command line for a program that must end with this process. */
export function endingWithParent(path: string, args: readonly string[]): [string, ...string[]] {
  return withParent === undefined ? [path, ...args] : [withParent, '--pdeathsig', 'KILL', '--', path, ...args];
}

/** Kills a child's process group when the child or the service exits, or when the returned function is called. */
export function adopt(child: ChildProcess): () => void {
  running.add(child);
  const end = () => {
    if (running.delete(child)) killGroup(child);
  };
  child.once('exit', end).once('error', end);
  return end;
}

/**
 * Starts a program without a shell. Throws if it is not found, `overloaded` when out of file descriptors, and the signal's
 * reason if already aborted.
 */
export function startProgram(program: string, args: readonly string[], options: NamedCall): StartedProgram {
  const child = spawnProgram(program, args, options, 'ignore');
  const { stdout, stderr } = child;
  return { stdout, stderr, exit: watch(child, program, options), kill: () => killGroup(child) };
}

function spawnProgram(program: string, args: readonly string[], options: ProgramCall, stdin: 'ignore' | 'pipe'): Child {
  options.signal.throwIfAborted();
  const path = findExecutable(program);
  // setpriv would report this with an exit code that looks like the program's own.
  if (path === undefined) throw new Error(`${program} could not be started: program not found`);
  const [command, ...rest] = endingWithParent(path, args);
  const child = spawn(command, rest, {
    cwd: options.cwd,
    env: { ...Object.fromEntries(inherited.map((name) => [name, process.env[name]])), ...options.env },
    stdio: [stdin, 'pipe', 'pipe'],
    detached: true, // a process group of its own, so that its children end with it
  });
  child.on('error', ignore); // emitted later; without a listener it would be an uncaught exception
  if (!hasPipes(child)) throw notStarted(program, outOfDescriptors());
  running.add(child);
  return child;
}

/** When out of file descriptors, `spawn` returns a child without pipes and emits the error later. */
function hasPipes(child: ChildProcess): child is Child {
  const { stdout, stderr } = child as { readonly stdout?: unknown; readonly stderr?: unknown };
  return stdout !== undefined && stderr !== undefined;
}

function outOfDescriptors(): Error {
  return Object.assign(new Error('spawn returned a child without pipes'), { code: 'EMFILE' });
}

function notStarted(program: string, cause: Error): Error {
  const error = new Error(`${program} could not be started`, { cause });
  if (!isAtMachineLimit(cause)) return error;
  const message = 'The service cannot start another program now; try again later.';
  return new EngineError('overloaded', message, { cause: error, retryAfter: 1 });
}

/** Runs a program to its end and keeps the last 64 KB of what it says. */
export async function runProgram(program: string, args: readonly string[], options: ProgramCall): Promise<ProgramExit> {
  const { stdout, stderr, exit, kill } = startProgram(program, args, options);
  const output = tail(stdout);
  let failure: { readonly error: unknown } | undefined;
  const { onLine } = options;
  if (onLine) {
    const fail = (error: unknown) => {
      failure ??= { error };
      kill();
    };
    for (const stream of [stdout, stderr]) readLines(stream, (line) => failure ?? onLine(line), fail);
  }
  const ended = await exit;
  if (failure) throw failure.error;
  return { ...ended, stdout: output() };
}

/** What a line has beyond this is dropped. */
const longestLine = 1_048_576;

/** An exception of `onLine` goes to `fail`: thrown in a listener, it would end the process. */
function readLines(stream: Readable, onLine: (line: string) => unknown, fail: (error: unknown) => void): void {
  const lines = new LineSplitter(longestLine);
  const report = (found: Iterable<string>) => {
    try {
      for (const line of found) onLine(line);
    } catch (error) {
      fail(error);
    }
  };
  stream.on('data', (chunk: Buffer) => report(lines.push(chunk))).on('close', () => report(lines.end()));
}

/** The `start` of an engine's context. Throws as `startProgram` does. */
export function streamProgram(program: string, args: readonly string[], options: StreamingCall): RunningProgram {
  const { input, signal } = options;
  const child = spawnProgram(program, args, options, 'pipe');
  const fail = (error: Error) => {
    child.stdout.destroy(error);
    killGroup(child);
  };
  // Without this listener, Node discards the output of a program that exits before it is read.
  child.stdout.on('error', ignore).on('readable', ignore);
  child.once('exit', (_code, killedBy) => {
    if (killedBy !== null) child.stdout.destroy(signal.aborted ? (signal.reason as Error) : endedBy(killedBy));
  });
  // Output that is still unread after the program's own exit would keep the pipe open, and the child from closing.
  const off = onAbort(signal, (reason) => {
    if (child.exitCode === null) child.once('exit', () => child.stdout.destroy(reason as Error));
    else child.stdout.destroy(reason as Error);
  });
  child.once('close', off);
  if (child.stdin) feed(child.stdin, input, fail);
  const exit = watch(child, program, options).then((ended) => ({ ...ended, stdout: '' }));
  exit.catch(ignore); // readers of the output may ignore it
  return { output: readOutput(child, exit), exit };
}

/** Ignores EPIPE from a program that exits before reading all its input: the exit says more. */
function feed(stdin: Writable, input: StreamingCall['input'], fail: (error: Error) => void): void {
  const source = typeof input === 'string' ? [input] : reported(input, fail);
  pipeline(source, stdin).catch(ignore);
}

async function* reported(input: AsyncIterable<Uint8Array>, fail: (error: Error) => void): AsyncGenerator<Uint8Array> {
  try {
    yield* input;
  } catch (error) {
    fail(error as Error);
    throw error;
  }
}

async function* readOutput(child: Child, exit: RunningProgram['exit']): AsyncGenerator<Uint8Array> {
  let whole = false;
  try {
    yield* child.stdout as AsyncIterable<Buffer>;
    whole = true;
  } finally {
    if (!whole) killGroup(child);
  }
  // EOF may arrive before the exit, and looks the same if the program was killed.
  const { signal } = await exit;
  if (signal !== null) throw endedBy(signal);
}

function endedBy(signal: string): Error {
  return new Error(`the program was killed by ${signal}`);
}

async function watch(
  child: Child,
  program: string,
  { signal, timeoutMs, name = basename(program) }: NamedCall,
): StartedProgram['exit'] {
  let timedOut = false;
  const span = beginSpan('internal', `run ${name}`, { 'process.executable.name': name });
  const end = () => killGroup(child);
  const deadline = setTimeout(() => {
    timedOut = true;
    end();
  }, timeoutMs);
  signal.addEventListener('abort', end, { once: true });
  child.once('exit', end); // its children end with it
  child.once('exit', () => [child.stdout, child.stderr].forEach(endAfterExit));
  const stderr = tail(child.stderr);
  try {
    const exit = await new Promise<{ code: number | null; signal: string | null }>((resolve, reject) => {
      child.once('error', (cause) => reject(notStarted(program, cause)));
      child.once('close', (code, killedBy) => resolve({ code, signal: killedBy }));
    });
    signal.throwIfAborted();
    return { ...exit, timedOut, stderr: stderr() };
  } finally {
    clearTimeout(deadline);
    signal.removeEventListener('abort', end);
    running.delete(child);
    endSpan(span, endOf(child));
  }
}

/** Output that is on its way arrives within this time after the exit. */
const drainMs = 500;

/**
 * A process that outlives the program, such as a daemon, may hold its pipes open: the output ends without it. A reader
 * that has not read everything yet gets the rest first. Two turns of the event loop are enough to refill a buffer.
 */
function endAfterExit(stream: Readable): void {
  const end = () => {
    if (stream.readableEnded || stream.destroyed) return;
    if (stream.readableLength > 0) endAfterExit(stream);
    else stream.push(null);
  };
  setTimeout(() => setImmediate(() => setImmediate(end)), drainMs).unref();
}

function endOf({ exitCode, signalCode }: Child): Attributes {
  if (exitCode === null) return { 'error.type': signalCode ?? 'not-started' };
  return { 'process.exit.code': exitCode };
}

function killGroup({ pid }: Pick<ChildProcess, 'pid'>): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    // ESRCH: the group is empty. EPERM: on macOS, only unreaped members are left.
    if (!['ESRCH', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

function tail(stream: Readable): () => string {
  let kept = Buffer.alloc(0);
  stream.on('data', (chunk: Buffer) => {
    kept = Buffer.concat([kept, chunk]).subarray(-tailBytes);
  });
  stream.on('error', ignore); // the pipe of a killed program; the exit is reported
  return () => kept.toString('utf8');
}

function ignore(): void {
  // Reported by the exit or by the output instead.
}
