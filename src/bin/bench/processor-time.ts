import { readFileSync } from 'node:fs';
import { ifReadable, processIds } from '../../conformance/processes.ts';

const ticksPerSecond = 100;

/** Returns the processor time of this process and all its descendants from proc(5); NaN on systems without /proc. */
export function processorSeconds(): number {
  const all = processIds().flatMap((pid) => ifReadable(() => read(pid)) ?? []);
  const family = all.filter(({ pid }) => pid === process.pid);
  for (const { pid } of family) family.push(...all.filter(({ parent }) => parent === pid)); // the loop also visits these
  return family.length === 0 ? NaN : family.reduce((sum, { ticks }) => sum + ticks, 0) / ticksPerSecond;
}

function read(pid: number) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.split(' ').map(Number) ?? [];
  const [user = 0, system = 0, userOfEnded = 0, systemOfEnded = 0] = fields.slice(11); // the last two: ended children
  return { pid, parent: fields[1], ticks: user + system + userOfEnded + systemOfEnded };
}
