/** Whether a model can be used: what its engine has published, and over it what the service knows itself. */
import type {
  Availability,
  CallQueue,
  ModelEntry,
  Resident,
  ResidentProgram,
} from '../../../engines/contract/index.ts';
import type { Assets } from '../assets/assets.ts';

/** What an engine has opened in the service. */
export class OpenedParts {
  readonly queues: Pick<CallQueue, 'full'>[] = [];
  /** The resident programs by their names. */
  readonly programs = new Map<string, OpenedProgram>();
}

interface OpenedProgram {
  readonly program: Pick<ResidentProgram, 'name' | 'model' | 'isOptional'>;
  readonly resident: Pick<Resident, 'state'> & {
    /** True for a minute after the program has ended before it was loaded, unless it was killed. */
    readonly isBroken: boolean;
  };
}

const ready: Availability = { available: true, code: 'ready', reason: 'Ready.' };
const busy: Availability = { available: true, code: 'busy', reason: 'All slots are in use; try again in a moment.' };
const loading: Availability = { available: true, code: 'loading', reason: 'Ready: loading the model.' };

/** Returns the availability of the entries of an engine. */
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
