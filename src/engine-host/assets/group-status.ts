/** The state of assets and groups, as shown in listings, by commands and on the page. */
import type { Asset, AssetGroup, Capability } from '../../../engines/contract/index.ts';
import { commandOf, type Declarations, type MergedGroup } from './declarations.ts';
import { bytesLeftOf, sourceOf } from './install.ts';

export type AssetState = 'ready' | 'preparing' | 'missing' | 'failed';

/** The current state of a group. */
export interface GroupStatus extends Pick<AssetGroup, 'id' | 'model' | 'settings'> {
  readonly title: string;
  /** A short sentence about the purpose of the group; "" if the engine provides none. */
  readonly purpose: string;
  readonly capability: Capability;
  readonly configured: boolean;
  /** True if another group that the settings require contains all assets of this group. */
  readonly isIncluded: boolean;
  /** Size of the download; null if unknown. */
  readonly bytes: number | null;
  readonly bytesLeft: number;
  /** Estimated memory in bytes of the largest model when loaded; null if unknown. */
  readonly memory: number | null;
  readonly license: string;
  /** The command that installs the group. */
  readonly command: string;
  readonly source: string;
  readonly state: AssetState;
  readonly reason: string;
  readonly progress: number | null;
  /**
   * Id, as used in requests, of the model that the group serves; null if it serves none or several, or if the model
   * must first be listed in the settings.
   */
  readonly serves: string | null;
}

/** The current state of an asset. `reason` is a sentence, except that in `preparing` it only states the work. */
export interface AssetStatus {
  readonly asset: Asset;
  readonly state: AssetState;
  readonly reason: string;
  readonly progress: number | null;
}

/** Resolves with the state of a group, derived from the states of its assets. */
export async function statusOfGroup(
  group: MergedGroup,
  declarations: Declarations,
  assetStatus: (asset: Asset) => AssetStatus,
): Promise<GroupStatus> {
  const { id, assets, extras = [], capability, isConfigured = false, model, settings } = group;
  const parts = assets.length > 0 ? assets : extras;
  const all = assets.map(assetStatus);
  const others = declarations.groups().filter((one) => one.id !== id && one.isConfigured);
  const isIncluded = others.some((other) => assets.every(({ id }) => other.assets.some((asset) => asset.id === id)));
  const models = declarations.modelsIn(group);
  const served = new Set(models.flatMap((one) => (one.settings === undefined ? (one.model ?? []) : [])));
  const needs = assets.flatMap((asset) => (asset.kind === 'files' ? (asset.memory ?? []) : []));
  const left = await Promise.all(all.map(({ asset, state }) => bytesLeftOf(asset, state === 'ready')));
  return {
    ...{ id, capability, configured: isConfigured, isIncluded },
    title: group.title ?? titlesOf([models, assets, extras].find((parts) => parts.length > 0) ?? []),
    purpose: group.purpose ?? models[0]?.purpose ?? '',
    bytes: assets.reduce<number | null>((sum, { bytes }) => (sum === null || bytes === null ? null : sum + bytes), 0),
    bytesLeft: left.reduce((sum, bytes) => sum + bytes, 0),
    memory: needs.length > 0 ? Math.max(...needs) : null,
    license: [...new Set(parts.map(({ license }) => license))].join(', '),
    command: commandOf(group),
    source: [...new Set(assets.map(sourceOf))].join(' and '),
    // Assets shared with other groups say nothing about the state of an additional model.
    ...withSettings(summarize(model !== undefined && all.at(-1)?.state === 'missing' ? all.slice(-1) : all), settings),
    serves: served.size === 1 ? [...served].join() : null,
    ...(model !== undefined && { model }),
    ...(settings !== undefined && { settings }),
  };
}

/** Merges the states of several assets. */
export function summarize(all: readonly AssetStatus[]): Pick<GroupStatus, 'state' | 'reason' | 'progress'> {
  const inState = (state: AssetState) => all.filter((one) => one.state === state);
  const [preparing, failed, missing] = [inState('preparing'), inState('failed'), inState('missing')];
  const why = failed.map(({ reason }) => reason);
  if (preparing.length > 0) {
    const known = preparing.flatMap(({ progress }) => progress ?? []);
    const progress = known.length === 0 ? null : known.reduce((sum, done) => sum + done, 0) / preparing.length;
    const steps = preparing.map(({ reason }) => reason).join(', ');
    return { state: 'preparing', reason: [`Installing (${steps}).`, ...why].join(' '), progress };
  }
  if (failed.length > 0) return { state: 'failed', reason: why.join('\n'), progress: null };
  const stopped = missing.find(({ reason }) => reason !== 'Not installed.') ?? missing[0];
  if (stopped) return { state: 'missing', reason: stopped.reason, progress: null };
  return { state: 'ready', reason: 'Ready.', progress: null };
}

function withSettings<S extends Pick<GroupStatus, 'state' | 'reason'>>(status: S, settings: string | undefined): S {
  if (status.state !== 'ready' || settings === undefined) return status;
  return { ...status, reason: `Installed. To use it, add this to the settings file and restart:\n${settings}` };
}

function titlesOf(parts: readonly { readonly title?: string }[]): string {
  const titles = parts.map(({ title = '' }) => title);
  return [titles.slice(0, -1).join(', '), ...titles.slice(-1)].filter((title) => title !== '').join(' and ');
}
