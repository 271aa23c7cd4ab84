/** Subtitles of readable length, from the times of words. */
import { describe, expect, test } from 'vitest';
import { toCues } from '../../src/transcription/cues.ts';
import { spacesBefore } from '../../src/transcription/spaces.ts';
import { toSrt, toVtt } from '../../lib/subtitles.ts';

/** Each word takes 300 ms and begins 400 ms after the one before. */
function transcriptOf(text: string, parts = text.split(' '), starts = (index: number) => 400 * index) {
  const words = parts.map((part, index) => ({ startMs: starts(index), endMs: starts(index) + 300, text: part }));
  return { text, language: null, words };
}

const cuesOf = (text: string, width: number, lines: number) =>
  toCues(transcriptOf(text), { width, lines }).map((cue) => cue.lines);

test('words fill lines, and lines fill cues', () => {
  expect(cuesOf('one two three four five six', 10, 1)).toEqual([['one two'], ['three four'], ['five six']]);
  expect(cuesOf('one two three four five six', 10, 2)).toEqual([['one two', 'three four'], ['five six']]);
  expect(cuesOf('one two', 200, 10)).toEqual([['one two']]);
});

test('a word wider than a line stands alone', () => {
  expect(cuesOf('a Donaudampfschifffahrt b c', 10, 3)).toEqual([['a', 'Donaudampfschifffahrt', 'b c']]);
});

test('characters are counted, not UTF-16 units', () => {
  expect(cuesOf('😀😀😀😀 😀😀😀😀😀', 10, 1)).toEqual([['😀😀😀😀 😀😀😀😀😀']]);
});

test('a cue has the times of its words', () => {
  const [first, second] = toCues(transcriptOf('one two three'), { width: 10, lines: 1 });
  expect([first?.startMs, first?.endMs, second?.startMs, second?.endMs]).toEqual([0, 700, 800, 1100]);
});

test('a cue ends at a pause of a second, and after seven', () => {
  const paused = transcriptOf('one two three', undefined, (index) => 1_300 * index);
  expect(toCues(paused, { width: 200, lines: 9 })).toHaveLength(3);
  const cues = toCues(transcriptOf('word '.repeat(40).trim()), { width: 200, lines: 9 });
  expect(cues).toHaveLength(3);
  for (const { startMs, endMs } of cues) expect(endMs - startMs).toBeLessThanOrEqual(7_000);
});

describe('the text stays word for word', () => {
  test('in a language without spaces', () => {
    const [cue] = toCues(transcriptOf('今日は良い', ['今日', 'は', '良い']), { width: 10, lines: 1 });
    expect(cue?.lines).toEqual(['今日は良い']);
  });

  test('where the words lack punctuation', () => {
    expect(spacesBefore(transcriptOf('Well, it "is".', ['Well', 'it', 'is']).words, 'Well, it "is".')).toEqual([
      '',
      ' ',
      '',
    ]);
  });

  test('for words that the text does not have', () => {
    expect(spacesBefore(transcriptOf('a b', ['x', 'a', 'y', 'b']).words, 'a b')).toEqual(['', '', ' ', ' ']);
  });
});

test('both formats write the lines of a cue below each other, without markup of the words', () => {
  const cues = toCues(transcriptOf('a<b c-->d 12345'), { width: 10, lines: 2 });
  expect(toSrt(cues)).toBe('1\n00:00:00,000 --> 00:00:01,100\na<b c->d\n12345\n\n');
  expect(toVtt(cues)).toBe('WEBVTT\n\n00:00:00.000 --> 00:00:01.100\na&lt;b c->d\n12345\n\n');
});

test('silence has no cues', () => {
  expect(toCues({ text: '', language: null, words: [] }, { width: 10, lines: 1 })).toEqual([]);
});
