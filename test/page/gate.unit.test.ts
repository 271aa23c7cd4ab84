/** Where turns begin and end in a stream of sound. */
import { describe, expect, test } from 'vitest';
import { Gate, levelOf } from '../../page/gate.ts';
import { UtteranceCutter } from '../../page/utterance-cutter.ts';

const rate = 48_000;
const frameMs = 20;
const voiceDb = -20;
const quietDb = -65;

/** What the gate did, with the time in milliseconds. */
function run(gate: Gate, ...parts: readonly (readonly [db: number, ms: number])[]): string[] {
  const changes: string[] = [];
  let now = 0;
  for (const [db, ms] of parts) {
    for (let i = 0; i < ms / frameMs; i++) {
      now += frameMs;
      const change = gate.push(db, frameMs);
      if (change) changes.push(`${change} at ${now}`);
    }
  }
  return changes;
}

const gate = (pauseMs = 900) => new Gate({ pauseMs: () => pauseMs });

describe('the gate', () => {
  test('opens after 120 ms of voice and closes after the pause', () => {
    expect(run(gate(), [quietDb, 1_000], [voiceDb, 1_000], [quietDb, 2_000])).toEqual([
      'opened at 1120',
      'closed at 2900',
    ]);
  });

  test('ignores a click', () => {
    expect(run(gate(), [quietDb, 1_000], [voiceDb, 60], [quietDb, 1_000], [voiceDb, 60], [quietDb, 1_000])).toEqual([]);
  });

  test('stays open while the user thinks for less than the pause', () => {
    const speech = [
      [quietDb, 500],
      [voiceDb, 500],
      [quietDb, 880],
      [voiceDb, 500],
      [quietDb, 880],
    ] as const;
    expect(run(gate(), ...speech)).toEqual(['opened at 620']);
  });

  test.each([500, 3_000])('closes after a pause of %i ms, as set', (pauseMs) => {
    expect(run(gate(pauseMs), [quietDb, 1_000], [voiceDb, 1_000], [quietDb, 4_000])).toEqual([
      'opened at 1120',
      `closed at ${2_000 + pauseMs}`,
    ]);
  });

  test('waits for the first word without a limit', () => {
    expect(run(gate(), [quietDb, 600_000], [voiceDb, 200])).toEqual(['opened at 600120']);
  });

  test('needs a louder and longer voice while the page speaks', () => {
    const speaking = new Gate({ pauseMs: () => 900, isSpeaking: () => true });
    const restOfEcho = [-47, 1_000] as const;
    const parts = [
      [quietDb, 1_000],
      restOfEcho,
      [quietDb, 500],
      [voiceDb, 220],
      [quietDb, 500],
      [voiceDb, 1_000],
    ] as const;
    expect(run(speaking, ...parts)).toEqual(['opened at 3460']);
    expect(run(gate(), ...parts)[0]).toBe('opened at 1120');
  });

  test('takes a steady noise for the room', () => {
    const changes = run(gate(), [-70, 1_000], [-40, 10_000], [voiceDb, 1_000], [-40, 2_000]);
    expect(changes.slice(-2)).toEqual(['opened at 11120', 'closed at 12900']);
  });

  test('takes a loud room for a room from the start', () => {
    expect(run(gate(), [-35, 5_000], [voiceDb, 1_000], [-35, 2_000])).toEqual(['opened at 5120', 'closed at 6900']);
  });

  test('does not take the silence of a muted microphone for the room', () => {
    expect(run(gate(), [-120, 3_000], [-45, 5_000])).toEqual([]);
  });
});

test('the level is in decibels of full scale', () => {
  expect(levelOf(new Float32Array(960).fill(1))).toBeCloseTo(0);
  expect(levelOf(new Float32Array(960).fill(0.1))).toBeCloseTo(-20);
  expect(levelOf(new Float32Array(960))).toBeLessThan(-100);
});

describe('a turn', () => {
  const frame = (amplitude: number) => new Float32Array((rate / 1_000) * frameMs).fill(amplitude);

  /** The turns, in milliseconds, and the time from the start of each to its first loud sample. */
  function cut(...parts: readonly (readonly [amplitude: number, ms: number])[]) {
    const cutter = new UtteranceCutter(rate, { pauseMs: () => 900 });
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
