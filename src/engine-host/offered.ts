/** What the engines offer to prepare, across engines: those that share an id are one. */
import type { Capability, Preparation } from '../../engines/contract/index.ts';
import type { ListedPreparations } from './registry.ts';

export interface Offered extends Pick<
  Preparation,
  'id' | 'title' | 'bytes' | 'licence' | 'state' | 'model' | 'settings'
> {
  readonly capability: Capability;
  readonly configured: boolean;
  readonly bytesLeft: number | null;
}

/** What the settings need comes first. */
export function offeredBy(listed: readonly ListedPreparations[]): Offered[] {
  const all = listed.flatMap(({ capability, list }) =>
    list.map(({ isConfigured = false, bytesLeft, atStart: _atStart, ...one }) => {
      return { ...one, capability, configured: isConfigured, bytesLeft: bytesLeft ?? one.bytes };
    }),
  );
  const groups = [...Map.groupBy(all, ({ id }) => id).values()].flatMap((group) => joined(group));
  return [...groups.filter(({ configured }) => configured), ...groups.filter(({ configured }) => !configured)];
}

/** They share what they need: the largest size is the whole. */
function joined(group: readonly Offered[]): Offered[] {
  const main = group.find(({ configured }) => configured) ?? group[0];
  if (!main) return [];
  const licences = group.flatMap(({ licence }) => licence.split(', '));
  const states = group.map(({ state }) => state);
  const joint: Offered = {
    ...main,
    bytes: largest(group.map(({ bytes }) => bytes)),
    bytesLeft: largest(group.map(({ bytesLeft }) => bytesLeft)),
    licence: [...new Set(licences)].join(', '),
    state: (['preparing', 'missing'] as const).find((state) => states.includes(state)) ?? 'ready',
  };
  return [joint];
}

const largest = (sizes: readonly (number | null)[]): number | null =>
  sizes.includes(null) ? null : Math.max(...sizes.map((size) => size ?? 0));
