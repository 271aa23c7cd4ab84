/** Where turns begin and end in a stream of sound. */
import { describe, expect, test } from 'vitest';
import { levelOf, newGate, pushLevel, type GateOptions } from '../../lib/voice-gate.ts';

const frameMs = 20;
const voiceDb = -20;
const quietDb = -65;

type Part = readonly [db: number, ms: number];

const run = (pauseMs: number, ...parts: readonly Part[]): string[] => changesOf({ pauseMs }, parts);

/** What the gate did, with the time in milliseconds. */
function changesOf(options: GateOptions, parts: readonly Part[]): string[] {
  const changes: string[] = [];
  let gate = newGate;
  for (const [db, ms] of parts) {
    for (let i = 0; i < ms / frameMs; i++) {
      const before = gate;
      gate = pushLevel(before, db, frameMs, options);
      if (gate.isOpen !== before.isOpen) changes.push(`${gate.isOpen ? 'opened' : 'closed'} at ${gate.now}`);
    }
  }
  return changes;
}

describe('the gate', () => {
  test('opens after 120 ms of voice and closes after the pause', () => {
    expect(run(900, [quietDb, 1_000], [voiceDb, 1_000], [quietDb, 2_000])).toEqual([
      'opened at 1120',
      'closed at 2900',
    ]);
  });

  test('ignores a click', () => {
    expect(run(900, [quietDb, 1_000], [voiceDb, 60], [quietDb, 1_000], [voiceDb, 60], [quietDb, 1_000])).toEqual([]);
  });

  test('stays open while the user thinks for less than the pause', () => {
    const speech = [
      [quietDb, 500],
      [voiceDb, 500],
      [quietDb, 880],
      [voiceDb, 500],
      [quietDb, 880],
    ] as const;
    expect(run(900, ...speech)).toEqual(['opened at 620']);
  });

  test.each([500, 3_000])('closes after a pause of %i ms, as set', (pauseMs) => {
    expect(run(pauseMs, [quietDb, 1_000], [voiceDb, 1_000], [quietDb, 4_000])).toEqual([
      'opened at 1120',
      `closed at ${2_000 + pauseMs}`,
    ]);
  });

  test('waits for the first word without a limit', () => {
    expect(run(900, [quietDb, 600_000], [voiceDb, 200])).toEqual(['opened at 600120']);
  });

  test('needs a louder and longer voice while an answer sounds', () => {
    const restOfEcho = [-47, 1_000] as const;
    const parts: Part[] = [[quietDb, 1_000], restOfEcho, [quietDb, 500], [voiceDb, 220], [quietDb, 500], [voiceDb, 1_000]]; // prettier-ignore
    expect(changesOf({ pauseMs: 900, isSpeaking: true }, parts)).toEqual(['opened at 3460']);
    expect(run(900, ...parts)[0]).toBe('opened at 1120');
  });

  test.each([
    ['silence', -120],
    ['a quiet room', quietDb],
    ['a loud room', -30],
  ])('opens for an even tone of -18 dB after %s, also while an answer sounds', (_where, roomDb) => {
    const parts: Part[] = [
      [roomDb, 1_000],
      [-18, 500],
    ];
    expect(changesOf({ pauseMs: 900, isSpeaking: true }, parts)).toEqual(['opened at 1240']);
  });

  test('takes a steady noise for the room', () => {
    const changes = run(900, [-70, 1_000], [-40, 10_000], [voiceDb, 1_000], [-40, 2_000]);
    expect(changes.slice(-2)).toEqual(['opened at 11120', 'closed at 12900']);
  });

  test('takes a loud room for a room from the start', () => {
    expect(run(900, [-35, 5_000], [voiceDb, 1_000], [-35, 2_000])).toEqual(['opened at 5120', 'closed at 6900']);
  });

  test('does not take the silence of a muted microphone for the room', () => {
    expect(run(900, [-120, 3_000], [-45, 5_000])).toEqual([]);
  });
});

test('the level is in decibels of full scale', () => {
  expect(levelOf(new Float32Array(960).fill(1))).toBeCloseTo(0);
  expect(levelOf(new Float32Array(960).fill(0.1))).toBeCloseTo(-20);
  expect(levelOf(new Float32Array(960))).toBeLessThan(-100);
});
