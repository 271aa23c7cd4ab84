/** The doctor's lines about assets: the assets that an engine is missing, and the groups that setup can install. */
import type { Finding } from '../../engines/contract/index.ts';
import type { Assets } from '../engine-host/assets/assets.ts';
import type { GroupStatus } from '../engine-host/assets/group-status.ts';
import { megabytes } from '../../lib/megabytes.ts';

interface AssetLine extends Finding {
  /** True while the asset is being installed. */
  readonly isPending: boolean;
}

export function linesOfLacking(assets: Assets, instance: string): AssetLine[] {
  return assets.lackingOf(instance).map(({ asset, ...status }) => toLine(asset.id, { ...asset, ...status }));
}

/**
 * Returns the lines for assets that can be installed. A missing asset is not an error. `npm run models` lists
 * additional models.
 */
export async function linesOfGroups(assets: Assets): Promise<(AssetLine & { readonly isOptional: true })[]> {
  const groups = (await assets.list()).filter(isRelevant);
  return groups.map((group) => ({ ...toLine(group.id, group), isOptional: true }));
}

/** Omits groups that a required group contains, and additional catalog models that are not installed. */
function isRelevant({ model, configured, isIncluded, state }: GroupStatus): boolean {
  return !isIncluded && (model === undefined || configured || state !== 'missing');
}

interface AssetFacts extends Pick<GroupStatus, 'title' | 'bytes' | 'license' | 'state' | 'reason' | 'command'> {
  readonly obstacle?: string | undefined;
}

function toLine(what: string, { title, bytes, license, state, reason, command, obstacle }: AssetFacts): AssetLine {
  const facts = [
    title,
    ...(bytes === null || bytes === 0 ? [] : [megabytes(bytes)]),
    ...(license === '' ? [] : [`license ${license}`]),
    state === 'ready' || state === 'missing' ? state : reason,
    ...(state === 'missing' && obstacle !== undefined ? [obstacle] : []),
  ];
  const isPending = state === 'preparing';
  const fix = state === 'missing' || state === 'failed' ? { fix: command } : {};
  return { what, ok: state === 'ready', isPending, detail: facts.join(', '), ...fix };
}
