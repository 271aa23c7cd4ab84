/** Starts a program without a shell, in a process group of its own. */
import { spawn, type ChildProcess, type ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { EngineError, type ProgramCall } from '../../../engines/contract/index.ts';
import { findExecutable } from '../../../lib/find-executable.ts';
import { isAtMachineLimit } from '../../../lib/resource-limits.ts';
import { adopt, endingWithParent } from './terminate.ts';

export type Child = ChildProcessByStdio<Writable | null, Readable, Readable>;

/** Inherited environment variables; never API keys. */
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

/** The error for a program that could not be started; `overloaded` where this machine is at a limit. */
export function notStarted(program: string, cause: Error): Error {
  const error = new Error(`${program} could not be started`, { cause });
  if (!isAtMachineLimit(cause)) return error;
  const message = 'The service cannot start another program now; try again later.';
  return new EngineError('overloaded', message, { cause: error, retryAfter: 1 });
}

function ignore(): void {
  // Reported by the exit or by the output instead.
}
