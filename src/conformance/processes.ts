/** Finds the processes of an engine in /proc on Linux; on other systems, only this process. */
import { readdirSync, readFileSync } from 'node:fs';

/** Returns the command lines of the processes with this variable in their environment, including orphans. */
export function programsWith(variable: string): string[] {
  return processIds().flatMap((pid) => (pid !== process.pid && hasVariable(pid, variable) ? [commandLineOf(pid)] : []));
}

/** Returns the command line of a process; "" if unknown. */
export const commandLineOf = (pid: number): string => fileOf(pid, 'cmdline').replaceAll('\0', ' ').trim();

/**
 * Returns a function that finds the ids of this process, of processes with this variable in their environment, and of
 * their descendants. Each process is inspected only once, which keeps polling cheap.
 */
export function createFinder(variable: string): () => number[] {
  const areOurs = new Map([[process.pid, true]]);
  return () => {
    for (const pid of processIds()) {
      if (!areOurs.has(pid)) areOurs.set(pid, areOurs.get(parentOf(pid)) === true || hasVariable(pid, variable));
    }
    return [...areOurs].flatMap(([pid, isOurs]) => (isOurs ? pid : []));
  };
}

/** Returns the ids of all processes; empty on systems without /proc. */
export function processIds(): number[] {
  return (ifReadable(() => readdirSync('/proc')) ?? []).map(Number).filter(Number.isInteger);
}

function hasVariable(pid: number, variable: string): boolean {
  return fileOf(pid, 'environ').split('\0').includes(variable);
}

/** Returns the parent of a process; 0 if unknown. */
function parentOf(pid: number): number {
  return Number(/^PPid:\s*(\d+)$/m.exec(fileOf(pid, 'status'))?.[1] ?? 0);
}

function fileOf(pid: number, name: string): string {
  return ifReadable(() => readFileSync(`/proc/${pid}/${name}`, 'utf8')) ?? '';
}

/** Returns undefined if the process belongs to another user or has just ended. */
export function ifReadable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
