/** What the level alone makes of noise: the figures of docs/decisions/22-turns-by-two-judges. */
import { expect, it } from 'vitest';
import { FrameCutter } from '../../src/realtime/sound-input.ts';
import { newTurnState, next } from '../../src/realtime/turn-detector.ts';
import { mix, rate, type Noise } from './noises.ts';

const detection = { threshold: 0.5, prefixMs: 300, silenceMs: 500 };

/** The times of the turns, of which the last one may be open. */
function turnsIn(sound: Buffer): number[] {
  let state = newTurnState(detection, { hasDetector: false });
  return [...new FrameCutter({ encoding: 'pcm', rate }).push(sound)].flatMap(({ db, ms }) => {
    const step = next(state, { type: 'frame', db, ms });
    state = step.state;
    return step.effects.flatMap((effect) =>
      effect.type === 'started' || effect.type === 'stopped' ? [effect.ms] : [],
    );
  });
}

it.each<[Noise, number, number[]]>([
  ['fan', 0.1, [1_700, 5_500]],
  ['fan', 0.3, [1_700, 5_500]],
  ['hum', 0.1, [1_700, 5_500]],
  ['hum', 0.3, [1_700]],
  ['music', 0.1, [1_700, 5_500]],
  ['music', 0.3, [1_700]],
  ['clicks', 0.1, []],
  ['clicks', 0.3, []],
  ['keyboard', 0.1, []],
  ['keyboard', 0.3, [4_240]],
])('without a detector, %s at %d of full scale opens and ends turns at %j', (kind, loudness, turns) => {
  expect(turnsIn(mix(kind, loudness))).toEqual(turns);
});
