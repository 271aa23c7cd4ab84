/** Listing and availability of models whose entries are known. */
import { EngineError, type Availability, type Engine, type JobQueue, type ModelEntry } from '../contract/index.ts';

export interface ModelSource<M> {
  entries(): Promise<readonly ModelEntry[]>;
  find(id: string): M | undefined;
}

export interface ServedModels<M> extends Pick<Engine, 'models' | 'availability'> {
  /** Throws `unknown-model`. */
  readonly modelOf: (id: string) => M;
}

/** `availabilityOf` answers for a model that is served. */
export function serveModels<M>(
  source: ModelSource<M>,
  availabilityOf: (model: M) => Availability | Promise<Availability>,
): ServedModels<M> {
  function modelOf(id: string): M {
    const model = source.find(id);
    if (model === undefined) throw new EngineError('unknown-model', `This engine does not serve "${id}".`);
    return model;
  }
  return {
    modelOf,
    models: () => source.entries(),
    availability: async (id) => await availabilityOf(modelOf(id)),
  };
}

/** The models of the settings: which they are never changes, their entries may. */
export function fixedModels<M extends { readonly id: string }>(
  models: readonly M[],
  toEntry: (model: M) => ModelEntry,
): ModelSource<M> {
  return { entries: () => Promise.resolve(models.map(toEntry)), find: (id) => models.find((model) => model.id === id) };
}

export const ready: Availability = { available: true, code: 'ready', reason: 'Ready.' };
const busy: Availability = { available: true, code: 'busy', reason: 'All slots are in use; try again in a moment.' };
/** For an engine whose model is not in memory yet, but on its way. */
export const loading: Availability = { available: true, code: 'loading', reason: 'Ready: loading the model.' };

/** For an engine that lacks nothing but a slot of its queue. */
export function readyOrBusy({ full }: Pick<JobQueue, 'full'>): Availability {
  return full ? busy : ready;
}

/** The entry of a model that may have a name. */
export function entryOf(
  { id, name }: { readonly id: string; readonly name?: string | undefined },
  local: boolean,
): ModelEntry {
  return { id, local, ...(name !== undefined && { name }) };
}
