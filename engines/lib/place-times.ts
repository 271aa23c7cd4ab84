/**
 * Puts the times of a transcript in order. An invalid time affects only its own part, which is placed between its
 * neighbors.
 */

/** Times in milliseconds, if the recognizer reports them. */
export interface ReportedTimes {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** Whole milliseconds. */
export interface PlacedTimes {
  readonly startMs: number;
  readonly endMs: number;
}

/**
 * Returns the parts with times within these limits. Their starts never descend: as many as possible are kept, and parts
 * whose start is missing or out of order share the time between their neighbors. An end may be after the next start.
 */
export function placeTimes<T extends ReportedTimes>(
  parts: readonly T[],
  lowMs: number,
  highMs: number,
): (Omit<T, keyof ReportedTimes> & PlacedTimes)[] {
  const times = timesOf(parts, lowMs, highMs);
  return parts.map(({ from: _from, to: _to, ...part }, index) => ({ ...part, ...(times[index] ?? noTimes) }));
}

const noTimes: PlacedTimes = { startMs: 0, endMs: 0 };

function timesOf(reported: readonly ReportedTimes[], lowMs: number, highMs: number): PlacedTimes[] {
  const starts = startsOf(reported, lowMs, highMs);
  const kept = longestAscending(starts);
  const placed: PlacedTimes[] = share(lowMs, starts[kept[0] ?? -1] ?? highMs, kept[0] ?? starts.length);
  for (const [position, index] of kept.entries()) {
    const next = kept[position + 1] ?? starts.length;
    const limit = starts[next] ?? highMs;
    const startMs = starts[index] ?? lowMs;
    const { to } = reported[index] ?? {};
    const endMs = to === undefined ? startMs : Math.min(Math.max(Math.round(to), startMs), highMs);
    if (to !== undefined) placed.push({ startMs, endMs });
    const rest = share(Math.min(endMs, limit), limit, next - placed.length);
    for (const times of rest) placed.push(times); // there may be too many for a spread
  }
  return placed;
}

/** Divides the time among parts. Without a limit, the parts have no length. */
function share(fromMs: number, limit: number, count: number): PlacedTimes[] {
  const length = limit === Infinity ? 0 : limit - fromMs;
  const edge = (at: number) => fromMs + Math.floor((length * at) / count);
  return Array.from({ length: count }, (_, at) => ({ startMs: edge(at), endMs: edge(at + 1) }));
}

/** A start that is earlier than possible by at most this counts as inexact, not as wrong. */
const inexactMs = 1_000;

/** A part with an inexact start begins when the one before it does. */
function startsOf(reported: readonly ReportedTimes[], lowMs: number, highMs: number): (number | undefined)[] {
  let before = lowMs;
  return reported.map(({ from, to = -Infinity }) => {
    if (from === undefined || from < lowMs - inexactMs || from > highMs) return undefined;
    const start = Math.min(Math.max(Math.round(from), lowMs), highMs);
    const isInexact = start < before && start >= before - inexactMs && to > before;
    if (!isInexact) before = start;
    return before;
  });
}

/** Returns the indexes of the longest subsequence that does not descend. */
function longestAscending(values: readonly (number | undefined)[]): number[] {
  /** By length, minus one: the index of the lowest value that ends such a subsequence. */
  const ends: number[] = [];
  const previous: number[] = [];
  const valueAt = (index: number | undefined) => values[index ?? -1] ?? Infinity;
  for (const [index, value] of values.entries()) {
    if (value === undefined) continue;
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (valueAt(ends[middle]) <= value) low = middle + 1;
      else high = middle;
    }
    previous[index] = ends[low - 1] ?? -1;
    ends[low] = index;
  }
  const kept: number[] = [];
  for (let index = ends.at(-1) ?? -1; index >= 0; index = previous[index] ?? -1) kept.push(index);
  return kept.reverse();
}
