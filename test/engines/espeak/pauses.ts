/** Texts that eSpeak NG would truncate if the engine did not insert pauses. */
import { expect, it } from 'vitest';
import { quarterOf } from '../../support/quarter.ts';
import { collect, secondsOfWav, type Espeak } from './support.ts';

type Row = readonly [voice: string, word: string, times: number];

export const pauses = quarterOf<Row>(
  [
    ['th', 'มะนาว', 30],
    ['ko', '레몬 ', 100],
    ['en', '我们', 100],
    ['en', 'hello', 50],
    ['en', '🙂 ', 100],
    ['en', 'W.', 30],
    ['en', 'www ', 100],
    ['de', 'z.B. ', 30],
    ['de', '777 ', 50],
    ['en', '**bold** ', 50],
  ],
  ([voice]) => voice,
);

/** The package takes seconds for each. */
export const pausesOfPackage = pauses.quarter.slice(0, 1);

export function skipsNothing(espeak: () => Espeak, rows: readonly Row[]): void {
  it.each(rows)('skips nothing where pauses are missing (%s: %s)', async (voice, word, times) => {
    const { say } = espeak();
    const seconds = async (text: string) =>
      secondsOfWav(await collect(say({ text, voice, format: 'wav', speed: 2.57 })));
    // Without the pauses each of them loses at least a third of so many words, at any speed.
    expect(await seconds(word.repeat(times))).toBeGreaterThan(0.8 * (times / 10) * (await seconds(word.repeat(10))));
  });
}
