/** Speaks a text piece by piece, one piece ahead of the reader. */
import { expect, it } from 'vitest';
import type { Piece } from '../../../lib/spoken-pieces.ts';
import { speak } from '../../../engines/sherpa-voice/speak.ts';

const pieces = ['one', 'two', 'three', 'four'].map((text): Piece => ({ text, end: 'sentence' }));
async function allOf(sounds: AsyncIterable<Int16Array>): Promise<Int16Array[]> {
  const all: Int16Array[] = [];
  for await (const sound of sounds) all.push(sound);
  return all;
}

const manner = { sampleRate: 8_000, pauseMs: 100 };

it('makes one piece ahead of the reader, and no more', async () => {
  const made: string[] = [];
  const sounds = speak(pieces, (text) => (made.push(text), Promise.resolve(new Int16Array(8_000))), manner);
  expect(made).toEqual([]);
  await sounds.next();
  expect(made).toEqual(['one', 'two']);
  await sounds.next(); // a pause
  expect(made).toEqual(['one', 'two']);
  await sounds.next();
  expect(made).toEqual(['one', 'two', 'three']);
  await sounds.return(undefined);
  expect(made).toEqual(['one', 'two', 'three']);
});

it('asks for the first piece as one that may be refused', async () => {
  const asked: boolean[] = [];
  const say = (_text: string, isFirst: boolean) => (asked.push(isFirst), Promise.resolve(new Int16Array(1)));
  await allOf(speak(pieces, say, manner));
  expect(asked).toEqual([true, false, false, false]);
});

it('has a pause between two pieces, as long as the first one says', async () => {
  const say = () => Promise.resolve(new Int16Array(800).fill(1));
  const some: Piece[] = [
    { text: 'a', end: 'sentence' },
    { text: 'b', end: 'clause' },
    { text: 'c', end: 'word' },
    { text: 'd', end: 'sentence' },
  ];
  const lengths = (await allOf(speak(some, say, manner))).map((sound) => [sound.length, sound[0]]);
  expect(lengths).toEqual([[800, 1], [800, 0], [800, 1], [400, 0], [800, 1], [800, 1]]); // prettier-ignore
});

it('has a tenth of a second at least', async () => {
  const silent = await allOf(speak([], () => Promise.reject(new Error('asked')), manner));
  expect(silent.map(({ length }) => length)).toEqual([800]);
});

it('fails where a piece does', async () => {
  const say = (text: string) => (text === 'two' ? Promise.reject(new Error('broken')) : Promise.resolve(new Int16Array(9))); // prettier-ignore
  const sounds = speak(pieces, say, manner);
  await sounds.next();
  await sounds.next();
  await expect(sounds.next()).rejects.toThrow('broken');
});
