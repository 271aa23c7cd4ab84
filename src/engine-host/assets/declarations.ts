/** The groups and assets that engines declare. Several engines may declare the same ones. */
import type { Asset, AssetGroup, Capability } from '../../../engines/contract/index.ts';
import { nameSetup, setupCommand } from '../../../lib/setup-command.ts';
import type { InstallContext } from './install.ts';

/** An engine that declares assets. */
export interface Declaring {
  readonly instance: string;
  readonly capability: Capability;
  readonly groups: readonly AssetGroup[];
  readonly context: InstallContext;
  /** `Engine.recheck`. Never rejects. */
  readonly recheck?: (() => Promise<void>) | undefined;
}

/** A group, merged from all engines that declare it. */
export interface MergedGroup extends AssetGroup {
  readonly capability: Capability;
}

export class Declarations {
  readonly #declaring: Declaring[] = [];
  /** The declarations of each asset by all engines. */
  readonly #byId = new Map<string, Asset[]>();

  add(engine: Declaring): void {
    this.#declaring.push(engine);
    const assets = new Set(engine.groups.flatMap(allAssetsOf));
    for (const asset of assets) this.#byId.set(asset.id, [...this.of(asset.id), asset]);
  }

  /** The declarations of every asset, grouped by asset. */
  get all(): readonly (readonly Asset[])[] {
    return [...this.#byId.values()];
  }

  /** Returns the declarations of an asset by all engines that need it. */
  of(id: string): readonly Asset[] {
    return this.#byId.get(id) ?? [];
  }

  /** Returns the groups, each merged from all engines that declare it. */
  groups(): MergedGroup[] {
    const all = this.#declaring.flatMap(({ capability, groups }) => groups.map((group) => ({ ...group, capability })));
    return [...Map.groupBy(all, ({ id }) => id).values()].flatMap((same) => {
      const main = same.find(({ isConfigured }) => isConfigured) ?? same[0];
      if (!main) return [];
      const { title, ...rest } = main;
      return [
        {
          ...rest,
          ...(title !== undefined && same.length === 1 && { title }),
          assets: unique(same.flatMap(({ assets }) => assets)),
          extras: unique(same.flatMap(({ extras = [] }) => extras)),
        },
      ];
    });
  }

  /** Returns the assets that the settings require for an engine. */
  configuredFor(instance: string): readonly Asset[] {
    const groups = this.#declaring.filter((one) => one.instance === instance).flatMap((one) => one.groups);
    return unique(groups.filter(({ isConfigured }) => isConfigured).flatMap((group) => group.assets));
  }

  contextOf(asset: Asset): InstallContext {
    const [owner] = this.#enginesOf(asset);
    if (!owner) throw new Error(`no engine declares the asset ${asset.id}`);
    return owner.context;
  }

  /** Makes the engines that declare the asset recheck it. */
  async recheck(asset: Asset): Promise<void> {
    await Promise.all(this.#enginesOf(asset).map(async ({ recheck }) => recheck?.()));
  }

  #enginesOf({ id }: Asset): readonly Declaring[] {
    return this.#declaring.filter(({ groups }) => groups.flatMap(allAssetsOf).some((asset) => asset.id === id));
  }

  /** Returns the single-model groups that a group contains. For a single-model group, returns the group itself. */
  modelsIn({ assets, model, id }: MergedGroup): readonly MergedGroup[] {
    const ids = new Set(assets.map((asset) => asset.id));
    return this.groups().filter((one) =>
      model === undefined ? one.model !== undefined && one.assets.every((asset) => ids.has(asset.id)) : one.id === id,
    );
  }

  /** Returns the command that installs an asset. */
  commandFor({ id }: Asset): string {
    const groups = this.groups().filter((group) => allAssetsOf(group).some((asset) => asset.id === id));
    const group = groups.find(({ isConfigured }) => isConfigured) ?? groups[0];
    return group === undefined ? setupCommand : commandOf(group);
  }
}

export const commandOf = ({ id, isAutomatic }: AssetGroup): string => (isAutomatic ? setupCommand : nameSetup(id));

/** Returns the assets of a group, including the optional ones if the operator requested the group. */
export const assetsOf = (
  group: AssetGroup,
  { isExplicit = false }: { readonly isExplicit?: boolean },
): readonly Asset[] => [...group.assets, ...(isExplicit ? (group.extras ?? []) : [])];

const allAssetsOf = (group: AssetGroup) => assetsOf(group, { isExplicit: true });

/** Returns the first asset with each id. */
export function unique(assets: readonly Asset[]): Asset[] {
  return [...new Map(assets.toReversed().map((asset) => [asset.id, asset])).values()].toReversed();
}
