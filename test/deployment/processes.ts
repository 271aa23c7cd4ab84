/** The processes that a service has started (proc(5)). */
import { expect } from 'vitest';
import { processes, type Process } from '../support/proc.ts';

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

/** Resolves with the children of a process once one of them is what is waited for, and no longer what starts it. */
export async function runningChildren(pid: number, commandLine: RegExp): Promise<Process[]> {
  const isIt = ({ commandLine: words }: Process) =>
    commandLine.test(words) && !/^\S*(setpriv |sh -c exec )/.test(words);
  let children: Process[] = [];
  const found = () => (children = childrenOf(pid)).some(isIt);
  await expect.poll(found, { timeout: 30_000, interval: 10 }).toBe(true);
  return children; // not looked up again: while a process execs the next program, its command line is empty
}
