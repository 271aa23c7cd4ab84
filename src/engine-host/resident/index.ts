/** The resident programs of all engines, on one memory plan. */
import type { Logger, Resident, ResidentProgram } from '../../../engines/contract/index.ts';
import type { ResidentState } from '../../metrics/metrics.ts';
import { ManagedResident } from './managed-resident.ts';
import { createMemoryPlan, type MemoryBudget } from './memory-plan.ts';

export type Residents = ReturnType<typeof createResidents>;

interface Kept {
  readonly instance: string;
  readonly program: ResidentProgram;
  readonly resident: ManagedResident;
}

export function createResidents(budget: MemoryBudget) {
  const plan = createMemoryPlan(budget);
  const kept = new Map<string, Kept>();

  return {
    budget,
    /**
     * The same one for the same program. Another one of the same name replaces it: that is unloaded once it is idle. Throws
     * a `TypeError` for numbers that are none.
     */
    open(instance: string, program: ResidentProgram, log: Logger): Resident {
      checkNumbers(program);
      const key = JSON.stringify([instance, program.name]);
      const known = kept.get(key);
      if (known && JSON.stringify(known.program) === JSON.stringify(program)) return known.resident;
      known?.resident.retire();
      const resident = new ManagedResident(program, plan, log);
      kept.set(key, { instance, program, resident });
      return resident;
    },
    /** Those of each engine. */
    facts: (): readonly ResidentState[] =>
      [...kept.values()].map(({ instance, resident }) => ({ engine: instance, ...resident.facts })),
    /** Process ids. */
    processes: () => plan.processes(),
    /** Calls that they serve fail. */
    [Symbol.dispose]: () => plan.close(),
  };
}

function checkNumbers({ name, memory, idleUnloadMs }: ResidentProgram): void {
  if (memory >= 0 && Number.isFinite(memory) && idleUnloadMs >= 0) return;
  const range = 'memory must be a number of bytes, and idleUnloadMs not negative';
  throw new TypeError(`The resident program ${name}: ${range}.`);
}
