/** Measures side by side: on a machine that is shared, only ratios within the same run are meaningful. */
import { readFileSync } from 'node:fs';
import { processes } from '../../test/support/proc.ts';

/**
 * Runs all contestants in every round, each time in another order, after a round that is discarded. Returns the results
 * of all rounds by contestant.
 */
export async function interleave<Name extends string, T>(
  contestants: Readonly<Record<Name, () => Promise<T>>>,
  rounds: number,
): Promise<Record<Name, T[]>> {
  const names = Object.keys(contestants) as Name[];
  for (const name of names) await contestants[name]();
  const results = Object.fromEntries(names.map((name) => [name, [] as T[]])) as Record<Name, T[]>;
  for (let round = 0; round < rounds; round++) {
    const first = round % names.length;
    for (const name of [...names.slice(first), ...names.slice(0, first)]) {
      results[name].push(await contestants[name]());
    }
  }
  return results;
}

export interface Cost {
  /** Milliseconds of wall-clock time. */
  readonly ms: number;
  /** Milliseconds of processor time, which hardly depends on the load of the machine. */
  readonly processorMs: number;
}

/** Measures the work. `processor` returns the processor time so far. */
export async function costOf(work: () => Promise<unknown>, processor: () => number): Promise<Cost> {
  const [started, before] = [performance.now(), processor()];
  await work();
  return { ms: performance.now() - started, processorMs: processor() - before };
}

/** Linux counts processor time in hundredths of a second (proc(5)). */
const tickMs = 10;

/** Processor time of a process and of its children that have ended. */
export function processorMsOf(pid: number): number {
  const [own, ended] = processorTicks(pid);
  return (own + ended) * tickMs;
}

/** Also includes children that are running, such as a program with a loaded model. */
export function processorMsOfFamily(pid: number): number {
  const children = processes().filter(({ parent }) => parent === pid);
  return processorMsOf(pid) + children.reduce((sum, child) => sum + processorMsOf(child.pid), 0);
}

/**
 * The share of the machine's processor time, from now on, that other programs use (neither idle, nor this process and
 * its children that have ended). The higher it is, the less reliable are the times. Programs that outlive their parent
 * count as other programs.
 */
export function watchOthers(): () => number {
  const read = () => ({ ...machineTicks(), ours: processorMsOf(process.pid) / tickMs });
  const before = read();
  return () => {
    const now = read();
    const others = now.busy - before.busy - (now.ours - before.ours);
    return Math.max(0, others / (now.all - before.all));
  };
}

function machineTicks(): { readonly busy: number; readonly all: number } {
  const [total = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
  const [user = 0, nice = 0, system = 0, idle = 0, waiting = 0] = total.split(/ +/).slice(1).map(Number);
  const busy = user + nice + system;
  return { busy, all: busy + idle + waiting };
}

/** Processor time of the children that have ended. */
export function processorMsOfChildren(): number {
  const [, ended] = processorTicks(process.pid);
  return ended * tickMs;
}

function processorTicks(pid: number): [own: number, endedChildren: number] {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ').map(Number);
  const [user = 0, system = 0, childrenUser = 0, childrenSystem = 0] = fields.slice(11);
  return [user + system, childrenUser + childrenSystem];
}

export const median = (values: readonly number[]): number => percentile(values, 50);

export const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = ((sorted.length - 1) * percent) / 100;
  const [below, above] = [sorted[Math.floor(at)]!, sorted[Math.ceil(at)]!];
  return below + (above - below) * (at % 1);
}
