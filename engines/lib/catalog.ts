/** A catalog, as data, of the models that can be downloaded for an engine, and the assets of these models. */
import { basename, join } from 'node:path';
import type { Asset, AssetGroup, EngineContext, FilesAsset } from '../contract/index.ts';

export interface CatalogModel {
  /** Display name. Defaults to the id if not specified. */
  readonly title?: string;
  /** Title for people who choose what to install. Defaults to `title` if not specified. */
  readonly label?: string;
  /** A short sentence that says what the model is good for. */
  readonly purpose: string;
  readonly license: string;
  /**
   * True if the model needs its own folder because its file names do not identify it.
   * @default false
   */
  readonly hasFolder?: boolean;
  /** The files, in the order of download. The last one is the model. */
  readonly files: readonly CatalogFile[];
}

export interface CatalogFile {
  /** Path below the base URL, or a whole URL. */
  readonly path: string;
  /** May be rounded to whole MiB, as some sites publish it. */
  readonly bytes: number;
  /** MD5, SHA-1 or SHA-256 in hex. */
  readonly digest: string;
}

type HasDataDir = Pick<EngineContext, 'dataDir'>;

export class Catalog {
  readonly #source: string;
  readonly #folder: string;
  readonly #models: Readonly<Record<string, CatalogModel>>;

  /** `source`: the base URL, unless the settings name a mirror. `folder`: the target folder below DATA_DIR. */
  constructor(source: string, folder: string, models: Readonly<Record<string, CatalogModel>>) {
    this.#source = source;
    this.#folder = folder;
    this.#models = models;
  }

  get ids(): readonly string[] {
    return Object.keys(this.#models);
  }

  find(id: string): CatalogModel | undefined {
    return Object.hasOwn(this.#models, id) ? this.#models[id] : undefined;
  }

  titleOf(id: string): string {
    return this.find(id)?.title ?? id;
  }

  labelOf(id: string): string {
    return this.find(id)?.label ?? this.titleOf(id);
  }

  /** Path of the downloaded model: its last file, or its folder. */
  pathOf(id: string, place: HasDataDir): string {
    const { hasFolder, files } = this.find(id) ?? { files: [] };
    return hasFolder === true
      ? join(place.dataDir, this.#folder, id)
      : this.#pathOf(id, files.at(-1)?.path ?? id, place);
  }

  #pathOf(id: string, path: string, { dataDir }: HasDataDir): string {
    return join(dataDir, this.#folder, this.find(id)?.hasFolder === true ? id : '', basename(path));
  }

  /** `memoryOf` returns the memory that the loaded model needs, given the total size of its files, in bytes. */
  asset(
    id: string,
    place: HasDataDir,
    mirror: string | undefined,
    { isReady, memoryOf }: Pick<Asset, 'isReady'> & { readonly memoryOf: (bytes: number) => number },
  ): FilesAsset {
    const { license, files } = this.find(id) ?? { license: '', files: [] };
    const base = (mirror ?? this.#source).replace(/\/+$/, '');
    const bytes = files.reduce((sum, { bytes }) => sum + bytes, 0);
    return {
      ...{ kind: 'files', id, title: this.titleOf(id), license, isReady, bytes, memory: memoryOf(bytes) },
      files: files.map(({ path, ...file }) => ({
        url: path.includes('://') ? path : `${base}/${path}`,
        path: this.#pathOf(id, path, place),
        ...file,
      })),
    };
  }

  /** Returns one group for the assets that the settings need, if any, and one for each of `named`. */
  groups({ part, base, configured, named, extras = [], ...more }: GroupOptions): AssetGroup[] {
    const assets = [...base, ...configured];
    const singles = named.map(({ asset, ...one }) => {
      const { id } = asset;
      const purpose = this.find(id)?.purpose ?? '';
      return { id, title: this.labelOf(id), purpose, assets: [...base, asset], extras, ...one };
    });
    return [
      ...(assets.length + extras.length > 0 ? [{ id: part, assets, extras, isConfigured: true, ...more }] : []),
      // Two models in the settings may refer to the same model in the catalog.
      ...new Map(singles.toReversed().map((group) => [group.id, group])).values().toArray().reverse(),
    ];
  }
}

/** A model of a catalog that can be installed by its name. */
export interface NamedModel {
  readonly asset: FilesAsset;
  /** Its id in requests. */
  readonly model: string;
  /** The line for the settings file, if the model is served only with it. */
  readonly settings?: string;
}

export interface GroupOptions extends Pick<AssetGroup, 'extras' | 'isAutomatic'> {
  /** Id of the group for the assets that the settings need. */
  readonly part: string;
  /** Assets that every model needs. */
  readonly base: readonly Asset[];
  readonly configured: readonly Asset[];
  readonly named: readonly NamedModel[];
}
