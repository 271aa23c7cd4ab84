/**
 * Detects keys with more permissions than before, since a lost line of the keys file permits everything. May warn too
 * often.
 */
import type { KeyLimits } from '../request-scope.ts';
import { operationsByNameOnly, type KeyRules } from './key.ts';
import type { KeyEntry } from './keys-file.ts';

/** Compares the entries of one key before and after a reload. */
export function isWidened(before: readonly KeyEntry[], after: readonly KeyEntry[]): boolean {
  const [old = noRules] = before;
  const [now = noRules] = after;
  const ends = new Map(before.map(({ sha256, expires }) => [sha256, expires]));
  return (
    addsOperation(old.operations, now.operations) ||
    widensFilter(old.models, now.models) ||
    widensFilter(old.tools, now.tools) ||
    raises(old.limits, now.limits) ||
    after.some(({ sha256, expires }) => isLater(ends.get(sha256), expires))
  );
}

const noRules: KeyRules = {};

type List = readonly string[] | undefined;

/** A key without a list has all operations except those that must be listed. */
function addsOperation(before: List, after: List): boolean {
  if (before === undefined) return after?.some((id) => operationsByNameOnly.includes(id)) ?? false;
  return addsTo(before, after);
}

function addsTo(before: List, after: List): boolean {
  if (before === undefined) return false;
  return after === undefined || after.some((item) => !before.includes(item));
}

/** Compares patterns of lib/name-filter. An empty list permits nothing. */
function widensFilter(before: List, after: List): boolean {
  if (before === undefined || after?.length === 0) return false;
  if (after === undefined || before.length === 0) return true;
  const [old, now] = [before, after].map((list) => Object.groupBy(list, (one) => (one.startsWith('!') ? 'not' : 'is')));
  return addsTo(old?.is, now?.is) || addsTo(now?.not ?? [], old?.not ?? []);
}

function raises(before: KeyLimits = {}, after: KeyLimits = {}): boolean {
  const limits = new Map(Object.entries(after));
  return Object.entries(before).some(([name, limit]) => (limits.get(name) ?? Infinity) > limit);
}

function isLater(before: string | undefined, after: string | undefined): boolean {
  if (before === undefined) return false;
  return after === undefined || Date.parse(after) > Date.parse(before);
}
