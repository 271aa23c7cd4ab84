import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { basename } from 'node:path';
import { createInterface } from 'node:readline';

const tailLines = 20;

export interface ProgramRun {
  /** A path; never looked up, never given to a shell. */
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The whole environment: nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Each line of stdout and stderr, as it comes. */
  readonly onLine?: (line: string) => void;
}

/**
 * Runs a program that reports line by line. Resolves on exit code 0; rejects with an error that shows its last lines,
 * or with the signal's reason, and then everything that it started is gone.
 */
export async function runProgram({ program, args, cwd, env, signal, onLine }: ProgramRun): Promise<void> {
  signal.throwIfAborted();
  // A process group of its own, so that one signal reaches what it started too (make, cc1plus, ...).
  const child = spawn(program, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const kill = () => killGroup(child.pid);
  signal.addEventListener('abort', kill);
  process.on('exit', kill);
  child.on('exit', kill);
  const tail: string[] = [];
  for (const input of [child.stdout, child.stderr]) {
    createInterface({ input }).on('line', (line) => {
      tail.push(line);
      if (tail.length > tailLines) tail.shift();
      onLine?.(line);
    });
  }
  try {
    const [code, killedBy] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
    signal.throwIfAborted();
    if (code !== 0) throw failure([basename(program), ...args], code ?? killedBy, tail);
  } finally {
    signal.removeEventListener('abort', kill);
    process.off('exit', kill);
  }
}

function killGroup(leader: number | undefined): void {
  if (leader === undefined) return;
  try {
    process.kill(-leader, 'SIGKILL');
  } catch (error) {
    // ESRCH: the group is empty. EPERM: macOS says so of a group that has only unreaped members left.
    if (!['ESRCH', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

function failure(command: readonly string[], end: number | string | null, tail: readonly string[]): Error {
  const ended = typeof end === 'number' ? `ended with exit code ${end}` : `was ended by ${end}`;
  return new Error([`\`${command.join(' ')}\` ${ended}`, ...tail].join('\n'));
}
