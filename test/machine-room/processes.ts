/** The processes that a service has started (proc(5)). */
import { readFileSync, readdirSync } from 'node:fs';
import { expect } from 'vitest';

export interface Process {
  readonly pid: number;
  readonly parent: number;
  /** In clock ticks since the machine's start: tells it from a later process with the same pid. */
  readonly started: string;
  readonly commandLine: string;
}

/** The living processes of this machine; a zombie has ended. */
function processes(): Process[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const [state, parent, ...rest] = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)!.split(' ');
        if (state === 'Z' || state === 'X') return [];
        const commandLine = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
        return [{ pid: Number(pid), parent: Number(parent), started: rest[17]!, commandLine }];
      } catch {
        return []; // it has ended meanwhile
      }
    });
}

/** All that a process has started and that still lives, grandchildren too. */
export function childrenOf(pid: number): Process[] {
  const all = processes();
  const below = (parent: number): Process[] =>
    all.filter((process) => process.parent === parent).flatMap((child) => [child, ...below(child.pid)]);
  return below(pid);
}

/** Which of them still live, whoever their parent is by now. */
export function alive(wanted: readonly Process[]): Process[] {
  const names = new Set(wanted.map(({ pid, started }) => `${pid} ${started}`));
  return processes().filter(({ pid, started }) => names.has(`${pid} ${started}`));
}

/** Resolves with the children of a process once one of them is what is waited for. */
export async function childrenAtWork(pid: number, commandLine: RegExp): Promise<Process[]> {
  const found = () => childrenOf(pid).some((child) => commandLine.test(child.commandLine));
  await expect.poll(found, { timeout: 15_000, interval: 10 }).toBe(true);
  return childrenOf(pid);
}
