/** Cuts a text into the pieces that a voice speaks. */
import { describe, expect, it } from 'vitest';
import { voicePieces } from '../../../engines/sherpa-voice/speak.ts';

const texts = (text: string) => voicePieces(text).map((piece) => piece.text);
const spoken = (text: string) => text.replace(/\s/g, '');

describe('the first piece', () => {
  it('is the first sentence alone, so that sound begins early', () => {
    expect(texts('This is the first. Short one. Another. And so on.')).toEqual([
      'This is the first.',
      'Short one. Another. And so on.',
    ]);
  });

  it('has more sentences where the first is very short', () => {
    expect(texts('Yes. No. Well, perhaps. Then what?')).toEqual(['Yes. No. Well, perhaps.', 'Then what?']);
    expect(texts('Mr. Smith has come home. He is early.')).toEqual(['Mr. Smith has come home.', 'He is early.']);
    expect(texts('Yes.')).toEqual(['Yes.']);
  });

  it('does not end with an abbreviation', () => {
    expect(texts('My friend Dr. Johnson has an appointment.')).toEqual(['My friend Dr. Johnson has an appointment.']);
  });
});

describe('the pieces', () => {
  const long = 'It was a bright cold day in April, and the clocks were striking thirteen, as they did every day, ';

  it('have as many sentences as fit, with a pause after each piece', () => {
    const text = `A first sentence. ${'Ten words are in this sentence of the test here. '.repeat(4)}`;
    expect(voicePieces(text).map(({ text, end }) => [text.length, end])).toEqual([
      [17, 'sentence'],
      [97, 'sentence'],
      [97, 'sentence'],
    ]);
  });

  it('of a long sentence end with clauses, and pause half as long', () => {
    const pieces = voicePieces(`${long.repeat(2)}and so it went on until it ended.`);
    expect(pieces).toEqual([
      { text: long.trim(), end: 'clause' },
      { text: long.trim(), end: 'clause' },
      { text: 'and so it went on until it ended.', end: 'sentence' },
    ]);
  });

  it('of a clause without an end are cut at words, without a pause', () => {
    const pieces = voicePieces('word '.repeat(60).trim());
    expect(pieces.map(({ text, end }) => [text.length, end])).toEqual([
      [119, 'word'],
      [119, 'word'],
      [59, 'sentence'],
    ]);
  });

  it('end at an ellipsis and at an empty line', () => {
    expect(texts('Well... I think so, but … who knows?\n\nA heading\n\nText that\ngoes on.')).toEqual([
      'Well...',
      'I think so, but …',
      'who knows?',
      'A heading',
      'Text that goes on.',
    ]);
  });

  it('end with the lines that end with a sentence, as items of lists do', () => {
    expect(texts('We want:\napples.\nripe bananas.\n"bread!"\n苹果。\n香蕉\nand so on')).toEqual([
      'We want: apples.',
      'ripe bananas.',
      '"bread!"',
      '苹果。',
      '香蕉 and so on',
    ]);
  });

  it.each([
    ['prose', `${long}and so it was. Then it ended! Did it? `.repeat(30)],
    ['a single word', 'a'.repeat(5_000)],
    ['Chinese', '他们来了，我们走了。'.repeat(100)],
    ['emoji', '🙂'.repeat(1_000)],
    ['line ends', 'one\ntwo\r\nthree\n'.repeat(100)],
  ])('have all of the text once, in order, and at most 120 characters (%s)', (_what, text) => {
    const pieces = texts(text);
    expect(spoken(pieces.join(''))).toBe(spoken(text));
    expect(Math.max(...pieces.map((piece) => Array.from(piece).length))).toBeLessThanOrEqual(120);
  });

  it.each(['', '   ', '\n\n\n'])('do not exist for white space (%j)', (text) => {
    expect(voicePieces(text)).toEqual([]);
  });
});
