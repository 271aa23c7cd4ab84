/** Sound that arrives while an answer is playing: what interrupts it and what does not. */
import { expect, it } from 'vitest';
import { openSpeech, quiet, sound, told, usual, voice } from './support.ts';

const rate = 24_000;
const options = { ...usual, format: { encoding: 'pcm', rate } } as const;

/** The turns that begin, while an answer with this level is playing. */
async function turnsIn(bytes: Buffer, answerDb: number | undefined): Promise<string[]> {
  const { speech, events } = await openSpeech({}, { options, services: { answerDb: () => answerDb } });
  await speech.append(bytes);
  await speech.end();
  return told(events).filter((event) => event.includes('started'));
}

it('speech interrupts it; a click and its own sound, 20 dB lower, do not', async () => {
  const [speech, click, echo] = [[voice, 1_000], [voice, 60], [voice - 20, 1_000]] as const; // prettier-ignore
  const said = (part: readonly [number, number]) => sound(rate, [quiet, 1_000], part, [quiet, 400]);
  expect(await turnsIn(said(speech), voice)).toEqual(['1 started 700']);
  expect(await turnsIn(said(click), voice)).toEqual([]);
  expect(await turnsIn(said(echo), voice)).toEqual([]);
  expect(await turnsIn(said(echo), undefined)).toEqual(['1 started 700']);
});
