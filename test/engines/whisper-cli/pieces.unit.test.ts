/** Which parts of a recording Whisper gets. */
import { describe, expect, it } from 'vitest';
import { encodesOf, planPieces } from '../../../engines/whisper-cli/pieces.ts';
import fc from '../../support/fast-check.ts';

/** In seconds. */
function pieces(durationS: number, ...speech: readonly (readonly [startS: number, endS: number])[]) {
  const spans = speech.map(([start, end]) => ({ startMs: 1000 * start, endMs: 1000 * end }));
  return planPieces(spans, 1000 * durationS).map(({ startMs, endMs }) => [startMs / 1000, endMs / 1000]);
}

describe('the pieces of a recording', () => {
  it.each([
    ['one part alone', 10, [[3, 5]], [[3, 5]]],
    ['neighbors are joined, and cut at the longest pause', 40, [[0, 10], [12, 20], [25, 30], [34, 36]], [[0, 20], [25, 36]]], // prettier-ignore
    ['what is far apart stays apart, with less silence', 90, [[0, 5], [40, 45], [80, 85]], [[0, 5], [40, 45], [80, 85]]], // prettier-ignore
    [
      'more than 30 s where that saves an encode',
      56,
      [
        [0, 16],
        [20, 36],
        [40, 56],
      ],
      [[0, 56]],
    ],
    ['speech without a pause', 70, [[0, 65]], [[0, 65]]],
    ['no speech', 10, [], []],
  ] as const)('%s', (_what, durationS, speech, expected) => {
    expect(pieces(durationS, ...speech)).toEqual(expected);
  });

  it('contain all speech, in order, and never cost an encode more than the whole', () => {
    const lengths = fc.array(fc.tuple(fc.integer({ min: 1, max: 40_000 }), fc.integer({ min: 600, max: 40_000 })), {
      minLength: 1,
      maxLength: 80,
    });
    fc.assert(
      fc.property(lengths, fc.nat(5_000), (parts, tail) => {
        let at = 0;
        const speech = parts.map(([gap, length]) => ({ startMs: (at += gap), endMs: (at += length) }));
        const found = planPieces(speech, at + tail);
        const sum = found.reduce((encodes, { startMs, endMs }) => encodes + encodesOf(endMs - startMs), 0);
        expect(sum).toBeLessThanOrEqual(encodesOf(at + tail));
        for (const [index, { startMs }] of found.entries())
          expect(startMs).toBeGreaterThan(found[index - 1]?.endMs ?? 0);
        const isKept = (part: (typeof speech)[number]) =>
          found.some(({ startMs, endMs }) => startMs <= part.startMs && part.endMs <= endMs);
        expect(speech.every(isKept)).toBe(true);
      }),
    );
  });

  it('of a whole day are found at once', () => {
    const speech = Array.from({ length: 86_400 }, (_, n) => ({ startMs: 1_000 * n, endMs: 1_000 * n + 700 }));
    const found = planPieces(speech, 86_400_000);
    expect(found[0]?.startMs).toBe(0);
    expect(found.at(-1)?.endMs).toBe(86_399_700);
  });
});
