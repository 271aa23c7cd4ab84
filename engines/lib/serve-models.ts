/** Listing and availability of models that are known in advance. */
import { EngineError, type Availability, type Engine, type CallQueue, type ModelEntry } from '../contract/index.ts';

export interface ModelSource<M> {
  entries(): Promise<readonly ModelEntry[]>;
  find(id: string): M | undefined;
}

export interface ServedModels<M> extends Pick<Engine, 'models' | 'availability'> {
  /** Throws `unknown-model`. */
  readonly modelOf: (id: string) => M;
}

/** `availabilityOf` is called for served models only. */
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

/** Serves the models of the settings. The list never changes, but its entries may. */
export function fixedModels<M extends { readonly id: string }>(
  models: readonly M[],
  toEntry: (model: M) => ModelEntry,
): ModelSource<M> {
  return { entries: () => Promise.resolve(models.map(toEntry)), find: (id) => models.find((model) => model.id === id) };
}

/** Serves models as `fixedModels` does, and further models by their ids as long as their files exist. */
export function withPulled<
  M extends { readonly id: string; readonly inspect: () => Promise<{ readonly ok: boolean }> },
>(models: readonly M[], pulled: readonly M[], toEntry: (model: M) => ModelEntry | Promise<ModelEntry>): ModelSource<M> {
  async function ifThere(model: M): Promise<ModelEntry[]> {
    return (await model.inspect()).ok ? [{ ...(await toEntry(model)), isExplicitOnly: true }] : [];
  }
  return {
    entries: async () => {
      const given = await Promise.all(models.map(async (model) => toEntry(model)));
      return [...given, ...(await Promise.all(pulled.map(ifThere))).flat()];
    },
    find: (id) => [...models, ...pulled].find((model) => model.id === id),
  };
}

/** Id of a model of a catalog that the settings do not list. */
export const pulledId = (name: string): string => `local/${name}`;

/** The option of the engines that have a catalog. */
export const pulledOption = {
  type: 'boolean',
  description:
    'Also serve models of the catalog that were installed with `npm run setup -- NAME`, as `local/NAME`, never as the default model. Default: false; true without a settings file.',
} as const;

export const ready: Availability = { available: true, code: 'ready', reason: 'Ready.' };
const busy: Availability = { available: true, code: 'busy', reason: 'All slots are in use; try again in a moment.' };
/** The availability of a model that is being loaded. */
export const loading: Availability = { available: true, code: 'loading', reason: 'Ready: loading the model.' };

/** The availability of a model that lacks at most a slot of its queue. */
export function readyOrBusy({ full }: Pick<CallQueue, 'full'>): Availability {
  return full ? busy : ready;
}

/** Returns the entry of a model, which may have a name. */
export function entryOf(
  { id, name }: { readonly id: string; readonly name?: string | undefined },
  place: Pick<ModelEntry, 'local' | 'mayBeLocal'>,
): ModelEntry {
  return { id, ...place, ...(name !== undefined && { name }) };
}
