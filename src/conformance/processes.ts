/** The processes in which an engine works. Linux alone tells; elsewhere there is this one. */
import { readdirSync, readFileSync } from 'node:fs';

/**
 * The command lines of the processes that have this in their environment: of all that were started with it, whoever
 * is their parent by now.
 */
export function programsWith(variable: string): string[] {
  return processIds().flatMap((pid) => {
    if (pid === process.pid || !hasVariable(pid, variable)) return [];
    return [fileOf(pid, 'cmdline').replaceAll('\0', ' ').trim()];
  });
}

/**
 * Finds this process, those with this in their environment, and what these have started, by their ids. Each new process
 * is looked at once, so that it can be asked again and again.
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

function processIds(): number[] {
  return (told(() => readdirSync('/proc')) ?? []).map(Number).filter(Number.isInteger);
}

function hasVariable(pid: number, variable: string): boolean {
  return fileOf(pid, 'environ').split('\0').includes(variable);
}

/** 0 when it is not told. */
function parentOf(pid: number): number {
  return Number(/^PPid:\s*(\d+)$/m.exec(fileOf(pid, 'status'))?.[1] ?? 0);
}

function fileOf(pid: number, name: string): string {
  return told(() => readFileSync(`/proc/${pid}/${name}`, 'utf8')) ?? '';
}

/** Of another user's process, or of one that has just ended, nothing is told. */
export function told<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
