import { describe, expect, test, vi } from 'vitest';
import { sentenceEnds } from '../../lib/sentences.ts';
import * as pieces from '../../lib/spoken-pieces.ts';

type Lengths = Omit<pieces.PieceOptions, 'sentenceEnds'>;
const createPieces = (lengths: Lengths) => pieces.createPieces({ ...lengths, sentenceEnds });
const piecesOf = (text: string, lengths: Lengths) => pieces.piecesOf(text, { ...lengths, sentenceEnds });

function sentencesOf(text: string): string[] {
  const { push, end } = createPieces({ longest: 200, shortest: [0] });
  return [...Array.from(text, push).flat(), ...end()].map((piece) => piece.text);
}

const textsOf = (text: string, longest: number) => piecesOf(text, { longest }).map((piece) => piece.text);

describe('A text for speech is split', () => {
  test.each<[string, string, number, string[]]>([
    ['not at all when it fits', 'One. Two.', 9, ['One. Two.']],
    ['at the last sentence end that fits', 'One is here. Two is. Three.', 20, ['One is here. Two is.', 'Three.']],
    ['where the white space after a sentence begins', 'One.   Two.', 4, ['One.', 'Two.']],
    ['not inside a number', 'It costs 3.14 euros.', 11, ['It costs', '3.14 euros.']],
    ['at line ends', 'A title\nand its text', 15, ['A title', 'and its text']],
    ['at ideographic full stops', '中文很好。日本語もいい。', 8, ['中文很好。', '日本語もいい。']],
    ['at clauses, if a sentence is too long', 'I came, I saw, I won.', 16, ['I came, I saw,', 'I won.']],
    ['at the clauses of other scripts', 'واحد، اثنان، ثلاثة', 12, ['واحد، اثنان،', 'ثلاثة']],
    ['at the spaces of Thai, which end clauses', 'ภาษาไทย สวยงามมาก', 12, ['ภาษาไทย', 'สวยงามมาก']],
    ['at words, if a clause is too long', 'one two three four', 9, ['one two', 'three', 'four']],
    ['at words of a script without spaces', 'ภาษาไทยสวยงาม', 8, ['ภาษาไทย', 'สวยงาม']],
    ['anywhere in a word, if it is too long', 'abcdefgh ij', 3, ['abc', 'def', 'gh', 'ij']],
    ['between graphemes', '👨‍👩‍👧👨‍👩‍👧', 7, ['👨‍👩‍👧', '👨‍👩‍👧']],
    ['between code points, if a grapheme is too long', '👨‍👩‍👧', 2, ['👨‍', '👩‍', '👧']],
    ['by code points, not by UTF-16 units', '😀😀😀😀', 2, ['😀😀', '😀😀']],
    ['into nothing, if it is only white space', ' \n\t ', 5, []],
  ])('%s', (_, text, limit, pieces) => {
    expect(textsOf(text, limit)).toEqual(pieces);
  });

  test('with half a pause after a clause, also in Thai', () => {
    const ends = (text: string) => piecesOf(text, { longest: 12 }).map(({ end }) => end);
    expect(ends('ภาษาไทย สวยงามมาก')).toEqual(['clause', 'sentence']);
    expect(ends('واحد، اثنان، ثلاثة')).toEqual(['clause', 'sentence']);
  });
});

describe('A sentence continues after an abbreviation', () => {
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
    expect(sentencesOf(`${sentence}Then it ends.`)).toEqual([sentence.trim(), 'Then it ends.']);
  });

  test.each([60, 100, 200, 400])('and pieces of at most %i code points end with the same sentences', (limit) => {
    const ends = new Set(sentences.map((sentence) => sentence.trim().slice(-8)));
    const pieces = textsOf(sentences.join('').repeat(5), limit);
    expect(pieces.filter((piece) => !ends.has(piece.slice(-8)))).toEqual([]);
    expect(pieces.join(' ')).toBe(sentences.join('').repeat(5).trim());
  });

  test('but not over a line end, and not after a word that is no abbreviation', () => {
    expect(sentencesOf('By Dr.\nNext. No. I stay.')).toEqual(['By Dr.', 'Next.', 'No.', 'I stay.']);
  });
});

describe('A text that arrives in parts', () => {
  const text = 'Yes. It costs $3.14, says Dr. Hill. "Good!" A list:\n- 中文很好。日本語も？ And so on';
  const sentences = [
    'Yes. It costs $3.14, says Dr. Hill.',
    '"Good!"',
    'A list:',
    '- 中文很好。',
    '日本語も？',
    'And so on',
  ];

  test('is returned sentence by sentence, each as soon as text follows it', () => {
    const { push, end } = createPieces({ longest: 200, shortest: [12, 0] });
    const pushed = Array.from(text, (character) => push(character).map((piece) => piece.text));
    expect([...pushed.flat(), ...end().map((piece) => piece.text)]).toEqual(sentences);
    expect(pushed[text.indexOf('"Good')]).toEqual([sentences[0]]);
    expect(pushed[text.indexOf('日')]).toEqual([sentences[3]]);
  });

  test('keeps citations with their sentence', () => {
    const { push, end } = createPieces({ longest: 200, shortest: [0] });
    const pieces = [...Array.from('It is so.[1][2] Then (it) ended.[3]', push).flat(), ...end()];
    expect(pieces.map((piece) => piece.text)).toEqual(['It is so.[1][2]', 'Then (it) ended.[3]']);
  });

  test('is returned as soon as a line ends', () => {
    const { push } = createPieces({ longest: 200, shortest: [0] });
    expect(push('A title').length).toBe(0);
    expect(push('\n').map((piece) => piece.text)).toEqual(['A title']);
  });

  test('has pieces of sentences that are longer than their minimum, the last of which is for all others', () => {
    const { push, end } = createPieces({ longest: 200, shortest: [0, 7, 9] });
    const pushed = Array.from('One. Two. Three. Four. Five. Six. Seven.', (character) => push(character)).flat();
    const texts = ['One.', 'Two. Three.', 'Four. Five.', 'Six. Seven.'];
    expect([...pushed, ...end()].map((piece) => piece.text)).toEqual(texts);
    expect(pushed.map((piece) => piece.text)).toEqual(texts.slice(0, 3));
  });

  test('has the same words in the same pieces, however long a sentence is', () => {
    const long = 'word, or word '.repeat(50);
    const { push, end } = createPieces({ longest: 30 });
    const pushed = Array.from(long, push).flat();
    expect(pushed.length).toBeGreaterThan(20);
    expect([...pushed, ...end()]).toEqual(piecesOf(long, { longest: 30 }));
  });
});

const hardest = {
  'abbreviations alone': 'Dr. '.repeat(8_000),
  'one word': 'a'.repeat(32_000),
  'full stops': '.'.repeat(32_000),
  'full stops and spaces': '. '.repeat(16_000),
  'closing brackets after a full stop': `.${')'.repeat(31_999)}`,
  'digits after a full stop': `.${'1'.repeat(31_999)}`,
  'abbreviations that may continue': 'a.('.repeat(10_666),
  'one grapheme': `a${'\u0301'.repeat(31_999)}`,
  flags: '🇩🇪'.repeat(16_000),
  'joined emoji': '👨\u200d'.repeat(16_000),
  'half surrogates': '\ud800'.repeat(32_000),
  'Thai without spaces': 'ภาษาไทย'.repeat(4571),
  'a gap': `a${' '.repeat(31_998)}b`,
  'line ends': 'a\n'.repeat(16_000),
};

describe.each([10, 200, 4096])('Pieces of at most %i code points', (limit) => {
  test.each(Object.entries(hardest))('lose nothing of %s, and segment it a bounded number of times', (_, text) => {
    const segment = vi.spyOn(Intl.Segmenter.prototype, 'segment');
    const pieces = textsOf(text, limit);
    const segmented = segment.mock.calls.reduce((sum, [window]) => sum + window.length, 0);
    segment.mockRestore();
    expect(pieces.join('').replace(/\s/g, '')).toBe(text.replace(/\s/g, ''));
    // Three segmenters, whose windows exceed a piece by up to 64 units. A quadratic split exceeds this a hundredfold.
    expect(segmented / text.length).toBeLessThan(3 * (2 + 64 / limit));
    // One expectation for all: 32,000 of them take longer than the split.
    const isWrong = (piece: string) => piece !== piece.trim() || Array.from(piece).length > limit;
    expect(pieces.filter(isWrong)).toEqual([]);
  });
});
