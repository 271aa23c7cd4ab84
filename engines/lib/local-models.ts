/**
 * The common parts of engines with local models: the models of the settings and of the catalog, the entries that are
 * published for them, the groups of assets that can be installed, and the facts of their resident programs.
 */
import type {
  Asset,
  AssetGroup,
  Availability,
  EngineContext,
  FilesAsset,
  ModelEntry,
  ResidentProgram,
} from '../contract/index.ts';
import { findModel } from './find-model.ts';
import type { Catalog, GroupOptions, NamedModel } from './catalog.ts';

/** A model whose files are on this machine, or can be installed. */
export interface LocalModel {
  readonly id: string;
  /** Display name. Defaults to the id if not specified. */
  readonly name?: string | undefined;
  /** Resolves with whether the files can be used. Checks them again only if they have changed. */
  readonly inspect: () => Promise<{ readonly ok: true } | { readonly ok: false; readonly detail: string }>;
  /** The downloads of the model in the catalog. */
  readonly downloads: readonly FilesAsset[];
}

interface LocalModelsOptions<M extends LocalModel> {
  readonly catalog: Catalog;
  /** The models of the settings. */
  readonly configured: readonly M[];
  /** The models of the catalog that the settings do not list. */
  readonly others: readonly M[];
  /** True to serve the installed models of `others`. */
  readonly pulled: boolean | undefined;
  /** Assets that every model needs. */
  readonly base: readonly Asset[];
  /** Searches for programs and libraries again. */
  readonly look: () => void | Promise<void>;
  /** Returns why no model can be used; undefined if models can be used, or if installing `base` would fix it. */
  readonly problem: () => Availability | undefined;
  /** Returns members of the entry that override the members common to all local models. */
  readonly describe: (
    model: M,
    found: Awaited<ReturnType<M['inspect']>>,
  ) => Partial<ModelEntry> | Promise<Partial<ModelEntry>>;
  /** Returns how to serve a model of `others`: the line for the settings file, and the model id in requests. */
  readonly toServe: (model: M, download: FilesAsset) => Required<Pick<NamedModel, 'model' | 'settings'>>;
}

export interface LocalModels<M> {
  /** The entries at the time of opening. */
  readonly models: readonly ModelEntry[];
  /** The models that requests may name. */
  readonly served: readonly M[];
  /** Throws `unknown-model`. */
  readonly modelOf: (id: string) => M;
  /** Checks everything again and publishes the entries. */
  readonly recheck: () => Promise<void>;
  readonly groupsOf: (options: Pick<GroupOptions, 'part' | 'extras' | 'isAutomatic'>) => AssetGroup[];
}

export async function openLocalModels<M extends LocalModel>(
  { publish }: Pick<EngineContext, 'publish'>,
  options: LocalModelsOptions<M>,
): Promise<LocalModels<M>> {
  const { catalog, configured, others, base, look, problem, describe, toServe } = options;
  const pulled = options.pulled === true ? others : [];
  const served = [...configured, ...pulled];

  async function entryOf(model: M, wrong: Availability | undefined): Promise<ModelEntry[]> {
    const { id, name, downloads } = model;
    const found = (await model.inspect()) as Awaited<ReturnType<M['inspect']>>;
    if (!found.ok && pulled.includes(model)) return [];
    const entry: ModelEntry = {
      ...{ id, local: true, needs: [...base, ...downloads].map((asset) => asset.id) },
      ...(name !== undefined && { name }),
      ...(pulled.includes(model) && { isExplicitOnly: true }),
      ...(!found.ok && { availability: unavailable('model-file-missing', `${found.detail}.`) }),
      ...(await describe(model, found)),
    };
    return [wrong ? { ...entry, needs: [], availability: wrong } : entry];
  }

  async function entries(): Promise<readonly ModelEntry[]> {
    const wrong = problem();
    return (await Promise.all(served.map((model) => entryOf(model, wrong)))).flat();
  }

  function namedModels(model: M): NamedModel[] {
    const isServed = served.includes(model);
    return model.downloads.map((asset) => ({ asset, ...(isServed ? { model: model.id } : toServe(model, asset)) }));
  }

  return {
    models: await entries(),
    served,
    modelOf: (id) => findModel(served, id),
    async recheck() {
      await look();
      publish(await entries());
    },
    groupsOf: (more) =>
      catalog.groups({
        ...{ ...more, base },
        configured: configured.flatMap(({ downloads }) => downloads),
        named: [...configured, ...others].flatMap(namedModels),
      }),
  };
}

/** The members of a resident program that every local engine sets in the same way. */
export function programOf(
  { id, downloads }: Pick<LocalModel, 'id' | 'downloads'>,
  { stamp }: { readonly stamp: string },
  /** Seconds. */
  idleUnload: number,
): Pick<ResidentProgram, 'name' | 'model' | 'version' | 'idleUnloadMs' | 'files'> {
  const files = downloads.flatMap((asset) => asset.files.map(({ path }) => path));
  return { name: id, model: id, version: stamp, idleUnloadMs: 1000 * idleUnload, ...(files.length > 0 && { files }) };
}

export function unavailable(code: Availability['code'], reason: string): Availability {
  return { available: false, code, reason };
}

/** Id of a model of the catalog that the settings do not list. */
export const pulledId = (name: string): string => `local/${name}`;

/** The option `pulled`. */
export const pulledOption = {
  type: 'boolean',
  description:
    'Also serve models of the catalog that were installed with `npm run setup -- NAME`, as `local/NAME`, never as the default model. Default: false; true without a settings file.',
} as const;
