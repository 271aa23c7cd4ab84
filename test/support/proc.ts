/** The processes of this machine (proc(5)). */
import { readFileSync, readdirSync } from 'node:fs';

export interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** In clock ticks since the machine's start: tells it from a later process with the same pid. */
  readonly started: string;
  readonly commandLine: string;
}

/** The living ones; a zombie has ended. */
export function processes(): Process[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)!.split(' ');
        const [state, parent, group] = fields;
        if (state === 'Z' || state === 'X') return [];
        const commandLine = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
        return [{ pid: Number(pid), parent: Number(parent), group: Number(group), started: fields[19]!, commandLine }];
      } catch {
        return []; // it has ended meanwhile
      }
    });
}
