/** Times of recognizers in order: what is right stays, and what is wrong gets a place. */
import { expect, test } from 'vitest';
import fc from '../../support/fast-check.ts';
import { placeTimes, type ReportedTimes } from '../../../engines/lib/place-times.ts';

const place = (times: readonly (readonly [from?: number, to?: number])[], low = 0, high = 100_000) =>
  placeTimes(
    times.map(([from, to]) => ({ from, to })),
    low,
    high,
  ).map(({ startMs, endMs }) => [startMs, endMs]);

/** One second each, with pauses. */
const ascending = (count: number) =>
  Array.from({ length: count }, (_, at) => [at * 2_000, at * 2_000 + 1_000] as const);

test.each([0, 1, 5, 9])('one wrong start, the one at %i, moves no other part', (at) => {
  for (const wrong of [
    [99_000, 99_500],
    [1_000_000, 1_000_500],
    [-50_000, -49_000],
    [undefined, undefined],
  ]) {
    const right = ascending(10);
    const given = right.with(at, wrong as [number, number]);
    const placed = place(given);
    const isEdge = at === 0 || at === 9; // then 99 s may be right, and so may what is before the recording
    for (const [index, times] of placed.entries()) if (index !== at) expect(times, `${wrong[0]}`).toEqual(right[index]);
    const [start = 0, end = 0] = placed[at]!;
    if (!isEdge) expect([start, end]).toEqual([right[at - 1]![1], right[at + 1]![0]]);
    expect(end).toBeGreaterThanOrEqual(start);
  }
});

const seconds = (...times: readonly (readonly [number, number])[]) =>
  times.map((pair) => pair.map((one) => one * 1_000));

test('several wrong parts share the time between their neighbors', () => {
  const given = [[0, 1_000], [50_000, 51_000], [60_000, 60_001], [], [4_000, 5_000]] as const;
  expect(place(given, 0, 10_000)).toEqual(seconds([0, 1], [1, 2], [2, 3], [3, 4], [4, 5]));
  expect(place([[], [], [4_000, 5_000], []], 2_000, 6_000)).toEqual(seconds([2, 3], [3, 4], [4, 5], [5, 6]));
});

test('parts that overlap begin with the one before', () => {
  const given = [
    [1_000, 1_500],
    [900, 1_400],
    [1_400, 3_000],
    [1_300, 2_000],
  ] as const;
  expect(place(given)).toEqual(seconds([1, 1.5], [1, 1.4], [1.4, 3], [1.4, 2]));
});

test('without a limit, a part without a time has no length', () => {
  expect(place([[0, 1_000], []], 0, Infinity)).toEqual(seconds([0, 1], [1, 1]));
});

test('any times become ascending ones within the limits, and ascending ones stay', () => {
  const time = fc.option(fc.integer({ min: -20, max: 140 }), { nil: undefined });
  const list = fc.array(fc.record({ from: time, to: time }), { maxLength: 20 });
  fc.assert(
    fc.property(list, fc.integer({ min: 0, max: 50 }), fc.integer({ min: 50, max: 120 }), (parts, low, high) => {
      const placed = placeTimes(parts, low, high);
      expect(placed).toHaveLength(parts.length);
      for (const [index, { startMs, endMs }] of placed.entries()) {
        expect(startMs).toBeGreaterThanOrEqual(placed[index - 1]?.startMs ?? low);
        expect(endMs).toBeGreaterThanOrEqual(startMs);
        expect(endMs).toBeLessThanOrEqual(high);
      }
      const again: ReportedTimes[] = placed.map(({ startMs, endMs }) => ({ from: startMs, to: endMs }));
      expect(placeTimes(again, low, high)).toEqual(placed);
    }),
    { numRuns: 2_000 },
  );
});
