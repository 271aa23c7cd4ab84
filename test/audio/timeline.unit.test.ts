/** Where silence takes the place of what a file leaves out. */
import { describe, expect, test } from 'vitest';
import type { Container } from '../../engines/contract/index.ts';
import { gapMsIn, Timeline } from '../../src/audio/timeline.ts';

type Piece = readonly [startMs: number, lengthMs: number];

/** Equal pieces that follow each other. */
const run = (startMs: number, count: number, lengthMs = 20, everyMs = lengthMs): Piece[] =>
  Array.from({ length: count }, (_, i) => [startMs + i * everyMs, lengthMs]);

function place(pieces: readonly Piece[], file: { container?: Container; bytes?: number } = {}): Timeline {
  const timeline = new Timeline({ container: 'webm', bytes: 100_000, ...file });
  for (const piece of pieces) timeline.place(...piece);
  return timeline;
}

describe('silence takes the place', () => {
  test.each<[string, Piece[], [startMs: number, endMs: number][]]>([
    ['of the time before the sound', run(4_900, 10), [[0, 4_900]]],
    ['of a gap', [...run(0, 10), ...run(10_000, 10)], [[200, 10_000]]],
    [
      'of several gaps',
      [...run(0, 5), ...run(1_000, 5), ...run(5_000, 5)],
      [
        [100, 1_000],
        [1_100, 5_000],
      ],
    ],
    [
      'of lost packets once they are 100 ms',
      run(0, 12, 20, 40),
      [
        [100, 200],
        [300, 400],
      ],
    ],
    [
      'of a gap after others that were too short, all in all',
      [...run(0, 2), ...run(80, 2), ...run(240, 2)],
      [[80, 240]],
    ],
  ])('%s', (_which, pieces, gaps) => {
    expect(place(pieces).gaps).toEqual(gaps.map(([startMs, endMs]) => ({ startMs, endMs })));
  });

  test.each<[string, Piece[], Parameters<typeof place>[1]]>([
    ['of less than 100 ms', [...run(0, 10), ...run(290, 10)], {}],
    ['of a clock that runs faster than the samples', run(0, 1_000, 20, 21.7), {}],
    ['of time stamps that are rounded and jitter', run(0, 500).map(([at, ms], i) => [at + (i % 3) * 4, ms]), {}],
    [
      'of time stamps that jump further than the file can last',
      [...run(0, 10), ...run(3_600_000, 10)],
      { bytes: 20_000 },
    ],
    ['of time stamps that go back, in joined files', [...run(0, 100), ...run(0, 100)], {}],
    ['in files without time stamps', [...run(0, 10), ...run(10_000, 10)], { container: 'mp3' }],
  ])('but not %s', (_which, pieces, file) => {
    expect(place(pieces, file).gaps).toEqual([]);
  });

  test('after time stamps that were wrong, too', () => {
    const pieces = [...run(0, 10), ...run(3_600_000, 10), ...run(3_601_200, 10)];
    expect(place(pieces, { bytes: 20_000 }).gaps).toEqual([{ startMs: 400, endMs: 1_400 }]);
  });
});

describe('packets with too little sound', () => {
  test('are found', () => {
    expect(place([...run(0, 10), ...run(200, 3, 10, 20), ...run(260, 10)]).isShortened).toBe(true);
  });

  test.each<[string, Piece[]]>([
    ['lost packets', run(0, 50, 20, 40)],
    ['silence that is not sent', [...run(0, 10), ...run(200, 10, 20, 400)]],
    ['packets of changing length', [...run(0, 10), ...run(200, 10, 2.5), ...run(225, 10)]],
    ['a short last packet', [...run(0, 10), [200, 7]]],
  ])('are not %s', (_which, pieces) => {
    expect(place(pieces).isShortened).toBe(false);
  });
});

test('of a part, only its own gaps count', () => {
  const gaps = [
    { startMs: 0, endMs: 1_000 },
    { startMs: 2_000, endMs: 4_000 },
  ];
  const of = (startMs: number, endMs: number) => gapMsIn(gaps, { startMs, endMs });
  expect([of(0, 5_000), of(500, 2_500), of(1_000, 2_000), of(3_000, 3_500)]).toEqual([3_000, 1_000, 0, 500]);
});
