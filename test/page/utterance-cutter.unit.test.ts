/** Where utterances begin and end in a stream of sound. */
import { describe, expect, test } from 'vitest';
import { UtteranceCutter } from '../../page/utterance-cutter.ts';

const rate = 48_000;
const frameMs = 20;

describe('a turn', () => {
  const frame = (amplitude: number) => new Float32Array((rate / 1_000) * frameMs).fill(amplitude);

  /** The turns, in milliseconds, and the time from the start of each to its first loud sample. */
  function cut(...parts: readonly (readonly [amplitude: number, ms: number])[]) {
    const cutter = new UtteranceCutter(rate, () => ({ pauseMs: 900 }));
    const turns: { ms: number; preRollMs: number }[] = [];
    for (const [amplitude, ms] of parts) {
      for (let i = 0; i < ms / frameMs; i++) {
        const turn = cutter.push(frame(amplitude));
        if (!turn) continue;
        const preRollMs = (turn.findIndex((sample) => sample > 0.05) / rate) * 1_000;
        turns.push({ ms: (turn.length / rate) * 1_000, preRollMs });
      }
    }
    return turns;
  }

  const [quiet, loud] = [0.0005, 0.1];

  test('begins 500 ms before its first sound', () => {
    expect(cut([quiet, 1_300], [loud, 1_000], [quiet, 2_000])).toEqual([{ ms: 500 + 1_000 + 900, preRollMs: 500 }]);
  });

  test('has nothing of the turn before it', () => {
    expect(cut([quiet, 1_000], [loud, 600], [quiet, 900], [quiet, 200], [loud, 600], [quiet, 900])).toEqual([
      { ms: 2_000, preRollMs: 500 },
      { ms: 1_700, preRollMs: 200 },
    ]);
  });

  test('ends after 60 s', () => {
    // Speech has gaps: a tone of a minute would become the room.
    const speech = Array.from({ length: 140 }, () => [[loud, 400] as const, [quiet, 100] as const]).flat();
    const [turn] = cut([quiet, 1_000], ...speech);
    expect(turn).toEqual({ ms: 60_500, preRollMs: 500 });
  });
});
