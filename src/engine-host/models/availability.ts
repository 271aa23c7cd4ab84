/**
 * Whether a model can be used: the state that its engine has published, overridden by what the service itself knows.
 */
import type {
  Availability,
  CallQueue,
  ModelEntry,
  Resident,
  ResidentProgram,
} from '../../../engines/contract/index.ts';
import type { Assets } from '../assets/assets.ts';

/** The queues and programs that an engine has opened in the service. */
export class OpenedParts {
  readonly queues: Pick<CallQueue, 'full'>[] = [];
  /** The resident programs, by name. */
  readonly programs = new Map<string, OpenedProgram>();
}

interface OpenedProgram {
  readonly program: Pick<ResidentProgram, 'name' | 'model' | 'isOptional'>;
  readonly resident: Pick<Resident, 'state'> & {
    /** True for a minute after the program exited during loading, unless it was killed. */
    readonly isBroken: boolean;
  };
}

const ready: Availability = { available: true, code: 'ready', reason: 'Ready.' };
const busy: Availability = { available: true, code: 'busy', reason: 'All slots are in use; try again in a moment.' };
const loading: Availability = { available: true, code: 'loading', reason: 'Ready: loading the model.' };

/** Returns a function that returns the availability of an engine's entry. */
export function availabilityIn({ queues, programs }: OpenedParts, assets: Pick<Assets, 'availabilityOf'>) {
  return (entry: ModelEntry): Availability => {
    const known = assets.availabilityOf(entry) ?? entry.availability ?? ready;
    if (known.code !== 'ready') return known;
    const own = [...programs.values()].filter(({ program }) => program.model === entry.id);
    const broken = own.find(({ program, resident }) => program.isOptional !== true && resident.isBroken);
    if (broken) return notLoadable(broken.program);
    if (queues.some(({ full }) => full)) return busy;
    const states = own.map(({ resident }) => resident.state);
    return states.includes('loading') && !states.includes('loaded') ? loading : known;
  };
}

function notLoadable({ name }: Pick<ResidentProgram, 'name'>): Availability {
  const reason = `The model ${name} could not be loaded: its files are damaged, or do not belong together.`;
  return { available: false, code: 'model-file-missing', reason };
}

export function failed(reason: string): Availability {
  return { available: false, code: 'engine-failed', reason };
}
