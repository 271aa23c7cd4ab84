/** The end of child processes: each ends with its process group, and all of them with the service. */
import type { ChildProcess } from 'node:child_process';
import { findExecutable } from '../../../lib/find-executable.ts';
import { errnoOf } from '../../../lib/errors.ts';

const running = new Set<Pick<ChildProcess, 'pid'>>();
process.on('exit', () => running.forEach(killGroup));

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

export function killGroup({ pid }: Pick<ChildProcess, 'pid'>): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    // ESRCH: the group is empty. EPERM: on macOS, only unreaped members are left.
    if (!['ESRCH', 'EPERM'].includes(errnoOf(error) ?? '')) throw error;
  }
}
