/** What a client can have played of an answer, and the words in it. */
import { describe, expect, it, test } from 'vitest';
import { heardText, interrupt, truncate, type SpokenPiece } from '../../src/realtime/heard.ts';
import { isPlaying, levelOfAnswer, notPlaying, play, playedMs } from '../../src/realtime/playing.ts';
import fc from '../support/fast-check.ts';

const piece = (text: string, ms: number, isWhole = true): SpokenPiece => ({ text, ms, isWhole });

describe('the text that was heard', () => {
  const answer = [piece('One two three four.', 2_000), piece(' Five six.', 1_000), piece(' Seven.', 500)];

  it.each([
    [0, ''],
    [100, ''],
    [500, 'One'],
    [1_000, 'One two'],
    [1_999, 'One two three four.'],
    [2_000, 'One two three four.'],
    [2_600, 'One two three four. Five'],
    [3_000, 'One two three four. Five six.'],
    [3_500, 'One two three four. Five six. Seven.'],
    [9_000, 'One two three four. Five six. Seven.'],
  ])('in the first %i ms is %j', (ms, text) => {
    expect(heardText(answer, ms)).toBe(text);
  });

  it.each([
    'The meeting begins at nine and ends whenever everybody has said what they wanted to say.',
    'I am so, so glad to see it in so big a transformation of administrative responsibilities!',
  ])('is off by one word at most, if words take 200 ms and 50 ms for each letter: %s', (text) => {
    let length = 0;
    const ends = text.split(' ').map((word) => (length += 200 + 50 * word.length));
    const errors = Array.from({ length: length / 10 }, (_, i) => {
      const words = heardText([piece(text, length)], 10 * i).match(/\S+/g) ?? [];
      return Math.abs(words.length - ends.filter((end) => end <= 10 * i).length);
    });
    expect(Math.max(...errors)).toBe(1);
  });

  it.each([
    ['Chinese', '今天天气很好。我们', 4, '今天天气'],
    ['Japanese with a name', 'これはParlanceです', 3, 'これは'],
    ['Thai, by what looks like a character', 'สวัสดีครับ', 2, 'สวั'],
    ['an emoji', '好👩‍👩‍👧好', 2, '好👩‍👩‍👧'],
  ])('of a language without spaces is cut between characters: %s', (_what, text, count, heard) => {
    const characters = [...new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text)].length;
    expect(heardText([piece(text, 1_000 * characters)], 1_000 * count)).toBe(heard);
  });

  it('does not have the words of a piece whose sound has not been sent', () => {
    expect(heardText([piece('One two three four.', 2_000), piece(' Five six.', 0, false)], 2_000)).toBe(
      answer[0]!.text,
    );
    expect(heardText([piece('Five six.', 0, false)], 0)).toBe('');
  });

  it('of a piece that has been sent in part is estimated by the speed of the pieces before it', () => {
    const slow = piece('Five six seven eight.', 1_000, false);
    expect(heardText([piece('One two three four.', 4_000), slow], 5_000)).toBe('One two three four.Five');
    expect(heardText([slow], 1_000)).toBe('Five six seven');
    expect(heardText([piece('今天天气很好我们去公园', 1_000, false)], 1_000)).toBe('今天天气');
  });

  it('of a long text of the client, which has no sound, does not take minutes', () => {
    const text = ' '.repeat(100_000);
    expect(heardText([piece(text, 0)], 0)).toBe(text);
  });

  test('grows with the time, and is a beginning of the answer', () => {
    const pieces = fc.array(
      fc.record({ text: fc.string({ unit: 'grapheme', minLength: 1 }), ms: fc.nat(5_000), isWhole: fc.boolean() }),
    );
    fc.assert(
      fc.property(pieces, fc.nat(20_000), fc.nat(20_000), (sent, a, b) => {
        const [less, more] = [a, b].toSorted((x, y) => x - y).map((ms) => heardText(sent, ms)) as [string, string];
        expect(
          sent
            .map(({ text }) => text)
            .join('')
            .startsWith(more),
        ).toBe(true);
        expect(more.startsWith(less)).toBe(true);
      }),
    );
  });
});

describe('the end of an answer that was not heard to its end', () => {
  it('is what can have been played, until the client truncates it for the first time', () => {
    const interrupted = interrupt(undefined, 1_200);
    expect(interrupted.ms).toBe(1_200);
    expect(truncate(interrupted, 800, 3_000).ms).toBe(800);
    expect(truncate(interrupted, 2_000, 3_000).ms).toBe(2_000);
    expect(truncate(interrupted, 9_000, 3_000).ms).toBe(3_000);
    expect(truncate(interrupted, -1, 3_000).ms).toBe(0);
  });

  it('only becomes earlier by another truncation', () => {
    const truncated = truncate(undefined, 2_000, 3_000);
    expect(truncate(truncated, 2_500, 3_000).ms).toBe(2_000);
    expect(truncate(truncated, 500, 3_000).ms).toBe(500);
  });

  it('is not changed by an interruption that comes after the truncation or after another interruption', () => {
    const truncated = truncate(undefined, 2_000, 3_000);
    expect(interrupt(truncated, 2_900)).toBe(truncated);
    expect(interrupt(interrupt(undefined, 1_000), 2_000).ms).toBe(1_000);
  });
});

describe('what a client can have played', () => {
  const sound = (ms: number, db = -20) => ({ ms, db });

  it('is all of the sound but what is left of it', () => {
    const playing = play(play(notPlaying, sound(3_000), 10_000), sound(1_000), 10_500);
    expect(playing.untilMs).toBe(14_000);
    expect(playedMs(4_000, playing, 10_500)).toBe(500);
    expect(playedMs(4_000, playing, 14_000)).toBe(4_000);
    expect(playedMs(4_000, playing, 60_000)).toBe(4_000);
  });

  it('stands still while no sound arrives', () => {
    const late = play(play(notPlaying, sound(1_000), 10_000), sound(1_000), 15_000);
    expect(playedMs(2_000, late, 15_400)).toBe(1_400);
  });

  it('of an answer that waits behind another one is nothing', () => {
    const behind = play(play(notPlaying, sound(3_000), 10_000), sound(1_000), 10_100);
    expect(playedMs(1_000, behind, 11_000)).toBe(0);
    expect(playedMs(1_000, behind, 13_600)).toBe(600);
  });

  it('plays to the end of the sound', () => {
    const playing = play(notPlaying, sound(1_000), 10_000);
    expect([9_999, 10_999, 11_000].map((now) => isPlaying(playing, now))).toEqual([true, true, false]);
    expect(isPlaying(notPlaying, 0)).toBe(false);
  });

  it('is as loud as the mean of its sound without its silence, until it has been played', () => {
    const playing = [sound(1_000, -10), sound(1_000, -20), sound(5_000, -90)].reduce(
      (before, part) => play(before, part, 10_000),
      notPlaying,
    );
    expect(levelOfAnswer(playing, 10_100)).toBeCloseTo(-12.6, 1);
    expect(levelOfAnswer(playing, 17_499)).toBeCloseTo(-12.6, 1);
    expect(levelOfAnswer(playing, 17_500)).toBeUndefined();
    expect(levelOfAnswer(notPlaying, 0)).toBeUndefined();
    expect(levelOfAnswer(play(playing, sound(1_000, -40), 20_000), 20_000)).toBeCloseTo(-40);
    expect(levelOfAnswer(play(notPlaying, sound(1_000, -90), 0), 0)).toBe(-50);
  });
});
