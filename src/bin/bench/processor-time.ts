import { readFileSync } from 'node:fs';
import { ifReadable, processIds } from '../../conformance/processes.ts';

const ticksPerSecond = 100;

/** Processor time of this process and the programs that it has started, from proc(5); NaN on systems without it. */
export function processorSeconds(): number {
  const all = processIds().flatMap((pid) => ifReadable(() => read(pid)) ?? []);
  const family = all.filter(({ pid }) => pid === process.pid);
  for (const { pid } of family) family.push(...all.filter(({ parent }) => parent === pid)); // the loop visits these, too
  return family.length === 0 ? NaN : family.reduce((sum, { ticks }) => sum + ticks, 0) / ticksPerSecond;
}

function read(pid: number) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.split(' ').map(Number) ?? [];
  const [user = 0, system = 0, userOfEnded = 0, systemOfEnded = 0] = fields.slice(11); // of children that have ended
  return { pid, parent: fields[1], ticks: user + system + userOfEnded + systemOfEnded };
}
