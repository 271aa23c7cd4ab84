/** Child processes: each is started without a shell, in its own process group, and ends with the service. */
import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { basename } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { EngineError, type ProgramCall, type ProgramExit } from '../../../engines/contract/index.ts';
import { onAbort } from '../../../lib/abort.ts';
import { errnoOf, ignore } from '../../../lib/errors.ts';
import { findExecutable } from '../../../lib/find-executable.ts';
import { LineSplitter } from '../../../lib/json-lines.ts';
import { isAtMachineLimit } from '../../../lib/resource-limits.ts';
import { beginSpan, endSpan } from '../../trace.ts';

export type Child = ChildProcessByStdio<Writable | null, Readable, Readable>;

/** Inherited environment variables. API keys must never be among them. */
const inherited = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'LD_LIBRARY_PATH'] as const;

/** Throws if the program is not found, `overloaded` when out of file descriptors, and the signal's reason if aborted. */
export function spawnProgram(
  program: string,
  args: readonly string[],
  options: ProgramCall,
  stdin: 'ignore' | 'pipe',
): Child {
  options.signal.throwIfAborted();
  const path = findExecutable(program);
  // Checked here, because setpriv would report this with an exit code that looks like the program's own.
  if (path === undefined) throw new Error(`${program} could not be started: program not found`);
  const [command, ...rest] = endingWithParent(path, args);
  const child = spawn(command, rest, {
    cwd: options.cwd,
    env: { ...Object.fromEntries(inherited.map((name) => [name, process.env[name]])), ...options.env },
    stdio: [stdin, 'pipe', 'pipe'],
    detached: true, // in its own process group, so that its children end with it
  });
  child.on('error', ignore); // the error is emitted later; without a listener, it would be an uncaught exception
  if (!hasPipes(child)) {
    const cause = new Error('spawn returned a child without pipes');
    throw notStarted(program, Object.assign(cause, { code: 'EMFILE' }));
  }
  adopt(child);
  return child;
}

/** When out of file descriptors, `spawn` returns a child without pipes and emits the error later. */
function hasPipes(child: ChildProcess): child is Child {
  const { stdout, stderr } = child as { readonly stdout?: unknown; readonly stderr?: unknown };
  return stdout !== undefined && stderr !== undefined;
}

/** Returns the error for a program that could not be started: `overloaded` if the machine has run out of a resource. */
export function notStarted(program: string, cause: Error): Error {
  const error = new Error(`${program} could not be started`, { cause });
  if (!isAtMachineLimit(cause)) return error;
  const message = 'The service cannot start another program now; try again later.';
  return new EngineError('overloaded', message, { cause: error, retryAfter: 1 });
}

interface NamedCall extends ProgramCall {
  /** The name to use in spans if `program` only starts another program. */
  readonly name?: string;
}

export async function exitOf(
  child: Child,
  program: string,
  { signal, timeoutMs, name = basename(program) }: NamedCall,
): Promise<Omit<ProgramExit, 'stdout'>> {
  let timedOut = false;
  const span = beginSpan('internal', `run ${name}`, { 'process.executable.name': name });
  const end = () => killGroup(child);
  const deadline = setTimeout(() => {
    timedOut = true;
    end();
  }, timeoutMs);
  const off = onAbort(signal, end);
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
    off();
    const { exitCode, signalCode } = child;
    endSpan(
      span,
      exitCode === null ? { 'error.type': signalCode ?? 'not-started' } : { 'process.exit.code': exitCode },
    );
  }
}

/** Maximum line length. The excess is dropped. */
const maxLineLength = 1_048_576;

/** Passes exceptions of `onLine` to `fail`, because an exception in a listener would end the process. */
export function readLines(stream: Readable, onLine: (line: string) => unknown, fail: (error: unknown) => void): void {
  const lines = new LineSplitter(maxLineLength);
  const report = (found: Iterable<string>) => {
    try {
      for (const line of found) onLine(line);
    } catch (error) {
      fail(error);
    }
  };
  stream.on('data', (chunk: Buffer) => report(lines.push(chunk))).on('close', () => report(lines.end()));
}

/** Time to wait for buffered output after the exit. */
const drainMs = 500;

/**
 * Ends the output even if a process that outlives the program, such as a daemon, keeps its pipes open. A reader that
 * has not read everything yet gets the rest first: two turns of the event loop suffice to refill a buffer.
 */
export function endAfterExit(stream: Readable): void {
  const end = () => {
    if (stream.readableEnded || stream.destroyed) return;
    if (stream.readableLength > 0) endAfterExit(stream);
    else stream.push(null);
  };
  setTimeout(() => setImmediate(() => setImmediate(end)), drainMs).unref();
}

const tailBytes = 65_536;

/** Keeps the last 64 KB of a stream. The returned function returns them as text. */
export function tail(stream: Readable): () => string {
  let kept = Buffer.alloc(0);
  stream.on('data', (chunk: Buffer) => {
    kept = Buffer.concat([kept, chunk]).subarray(-tailBytes);
  });
  stream.on('error', ignore); // the pipe of a killed program may fail; the exit is reported instead
  return () => kept.toString('utf8');
}

const running = new Set<Pick<ChildProcess, 'pid'>>();
process.on('exit', () => running.forEach(killGroup));

/** On Linux, setpriv ends a program with its parent, even if the parent is SIGKILLed. */
const withParent = process.platform === 'linux' ? findExecutable('setpriv', '/usr/bin:/bin') : undefined;

/** Returns the command line for a program that must end with this process. */
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

export function killGroup({ pid }: Pick<ChildProcess, 'pid'>): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    // ESRCH: the group is empty. EPERM: on macOS, only unreaped members are left.
    if (!['ESRCH', 'EPERM'].includes(errnoOf(error) ?? '')) throw error;
  }
}

interface StartedProgram {
  /** Output stream of the program. It must be read to its end. */
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly exit: Promise<Omit<ProgramExit, 'stdout'>>;
  readonly kill: () => void;
}

/**
 * Starts a program without a shell. Throws if the program is not found, `overloaded` when out of file descriptors, and
 * the signal's reason if already aborted.
 */
export function startProgram(program: string, args: readonly string[], options: NamedCall): StartedProgram {
  const child = spawnProgram(program, args, options, 'ignore');
  const { stdout, stderr } = child;
  return { stdout, stderr, exit: exitOf(child, program, options), kill: () => killGroup(child) };
}

/** Runs a program to its end and keeps the last 64 KB of its output. */
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
