/** Passages and turns of a transcript. */
import { expect, test } from 'vitest';
import { passagesOf, turnsOf, unitsOf } from '../../../src/transcription/speakers/spoken.ts';

const timed = (startMs: number, endMs: number, text: string) => ({ startMs, endMs, text });
const plain = { language: 'en', durationMs: 9_000 };

test('a passage has the punctuation of the text, which words lack', () => {
  const text = '“Well, yes.” – No? ¡Sí!';
  const words = ['Well', 'yes', 'No', 'Sí'].map((word, n) => timed(n * 500, n * 500 + 400, word));
  const cut = (...at: number[]) => passagesOf({ text }, words, (unit) => at.includes(unit)).map((part) => part.text);
  expect(cut(2, 3)).toEqual(['“Well, yes.” –', 'No?', '¡Sí!']);
  expect(cut()).toEqual([text]);
});

test('a text that lacks a word has the words', () => {
  const words = [timed(0, 100, 'two'), timed(200, 300, '三'), timed(400, 500, '四')];
  expect(passagesOf({ text: '2 3 4' }, words, (unit) => unit === 1).map(({ text }) => text)).toEqual(['two', '三四']);
});

test('a passage ends with a segment of the model', () => {
  const words = [timed(0, 100, 'a'), timed(200, 300, 'b'), timed(400, 500, 'c')];
  const segments = [timed(0, 300, 'a b'), timed(390, 500, 'c')];
  const passages = passagesOf({ text: 'a b c', segments }, words, () => false);
  expect(passages).toEqual([
    { first: 0, ...timed(0, 300, 'a b') },
    { first: 2, ...timed(400, 500, 'c') },
  ]);
});

test('a word that is stretched over silence ends earlier, and segments stand in for words', () => {
  const words = [timed(0, 900, 'a'), timed(1_000, 9_000, 'b')];
  expect(unitsOf({ ...plain, text: 'a b', words }).map(({ endMs }) => endMs)).toEqual([900, 1_600]);
  const segments = [timed(0, 5_000, 'a b')];
  expect(unitsOf({ ...plain, text: 'a b', words: [], segments })).toEqual(segments);
});

test('a turn ends with a change of speaker, at a long pause, and after half a minute', () => {
  const said = (speaker: string, startMs: number, endMs: number) => ({ ...timed(startMs, endMs, 'x'), speaker });
  const turns = turnsOf([said('A', 0, 1_000), said('A', 3_000, 4_000), said('A', 6_001, 7_000), said('B', 7_000, 38_000), said('B', 38_000, 39_000)]); // prettier-ignore
  expect(turns.map(({ speaker, startMs, endMs, text }) => [speaker, startMs, endMs, text])).toEqual([
    ['A', 0, 4_000, 'x x'],
    ['A', 6_001, 7_000, 'x'],
    ['B', 7_000, 38_000, 'x'],
    ['B', 38_000, 39_000, 'x'],
  ]);
});
