import { describe, expect, test } from 'vitest';
import { sentencesOf, splitSentences } from '../../../engines/lib/sentences.ts';

describe('A text for speech is split', () => {
  test.each<[string, string, number, string[]]>([
    ['not at all when it fits', 'One. Two.', 9, ['One. Two.']],
    ['at the last sentence end that fits', 'One is here. Two is. Three.', 20, ['One is here. Two is.', 'Three.']],
    ['where the white space after a sentence begins', 'One.   Two.', 4, ['One.', 'Two.']],
    ['not inside a number', 'It costs 3.14 euros.', 11, ['It costs', '3.14 euros.']],
    ['at line ends', 'A title\nand its text', 15, ['A title', 'and its text']],
    ['at ideographic full stops', '中文很好。日本語もいい。', 8, ['中文很好。', '日本語もいい。']],
    ['at words, if a sentence is too long', 'one two three four', 9, ['one two', 'three', 'four']],
    ['at words of a script without spaces', 'ภาษาไทยสวยงาม', 8, ['ภาษาไทย', 'สวยงาม']],
    ['anywhere in a word, if it is too long', 'abcdefgh ij', 3, ['abc', 'def', 'gh', 'ij']],
    ['between graphemes', '👨‍👩‍👧👨‍👩‍👧', 7, ['👨‍👩‍👧', '👨‍👩‍👧']],
    ['between code points, if a grapheme is too long', '👨‍👩‍👧', 2, ['👨‍', '👩‍', '👧']],
    ['by code points, not by UTF-16 units', '😀😀😀😀', 2, ['😀😀', '😀😀']],
    ['into nothing, if it is only white space', ' \n\t ', 5, []],
  ])('%s', (_, text, limit, pieces) => {
    expect(splitSentences(text, limit)).toEqual(pieces);
  });
});

describe('A sentence goes on after an abbreviation', () => {
  const sentences = [
    ...[
      'My friend Dr. Johnson is here. ',
      'Mrs. Hill met Prof. Ash on Mt. Everest. ',
      'J. R. R. Tolkien wrote No. 5 here. ',
    ],
    ...[
      'Nimm z. B. Äpfel, d. h. Obst. ',
      'Frl. Ott kam am 3. Oktober mit Hrn. Maier. ',
      'Siehe Abb. 4 und Nr. 12 dort. ',
    ],
    ...[
      'M. Dupont et Mme. Curie arrivent. ',
      'La Sra. Ruiz y el Dr. Paz, p. ej. Ana. ',
      'Il Sig. Rossi e Dott. Verdi. ',
    ],
    ...['O Exmo. Sr. Silva e a Profa. Lima. ', 'Mevr. Bos en dhr. Vos, drs. Jansen. ', 'He said no. ', 'On it goes. '],
  ];

  test.each(sentences)('%s', (sentence) => {
    expect(sentencesOf(`${sentence}Then it ends.`)).toEqual([sentence, 'Then it ends.']);
  });

  test.each([60, 100, 200, 400])('and pieces of at most %i code points end with the same sentences', (limit) => {
    const ends = new Set(sentences.map((sentence) => sentence.trim().slice(-8)));
    const pieces = splitSentences(sentences.join('').repeat(5), limit);
    expect(pieces.filter((piece) => !ends.has(piece.slice(-8)))).toEqual([]);
    expect(pieces.join(' ')).toBe(sentences.join('').repeat(5).trim());
  });

  test('but not over a line end, and not after a word that is none', () => {
    expect(sentencesOf('By Dr.\nNext. No. I stay.')).toEqual(['By Dr.\n', 'Next. ', 'No. ', 'I stay.']);
  });
});

const hardest = {
  'abbreviations alone': 'Dr. '.repeat(8_000),
  'one word': 'a'.repeat(32_000),
  'full stops': '.'.repeat(32_000),
  'full stops and spaces': '. '.repeat(16_000),
  'closing brackets after a full stop': `.${')'.repeat(31_999)}`,
  'digits after a full stop': `.${'1'.repeat(31_999)}`,
  'abbreviations that may go on': 'a.('.repeat(10_666),
  'one grapheme': `a${'\u0301'.repeat(31_999)}`,
  flags: '🇩🇪'.repeat(16_000),
  'joined emoji': '👨\u200d'.repeat(16_000),
  'half surrogates': '\ud800'.repeat(32_000),
  'Thai without spaces': 'ภาษาไทย'.repeat(4571),
  'a gap': `a${' '.repeat(31_998)}b`,
  'line ends': 'a\n'.repeat(16_000),
};

describe.each([1, 200, 4096])('Pieces of at most %i code points', (limit) => {
  test.each(Object.entries(hardest))('lose nothing of %s, in time', (_, text) => {
    const before = process.threadCpuUsage();
    const pieces = splitSentences(text, limit);
    const { user, system } = process.threadCpuUsage(before);
    // Measured: up to 0.4 s for 32,000 pieces of one character, 0.1 s for the others; a quadratic split takes minutes.
    expect((user + system) / 1000, 'ms').toBeLessThan(5000);
    expect(pieces.join('').replace(/\s/g, '')).toBe(text.replace(/\s/g, ''));
    // One expectation for all: 32,000 of them take longer than the split.
    const isWrong = (piece: string) => piece !== piece.trim() || Array.from(piece).length > limit;
    expect(pieces.filter(isWrong)).toEqual([]);
  });
});
