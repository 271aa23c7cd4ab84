/** The pieces in which an answer is read aloud. */
import { describe, expect, test } from 'vitest';
import { clauseOrSentenceEnds } from '../../lib/first-clause.ts';
import { createSpokenPieces } from '../../lib/spoken-markdown.ts';
import { speakable } from '../../src/speech/speakable.ts';

/** Writes the text in parts of `size` characters. */
function piecesOf(markdown: string, size = Infinity): string[] {
  const { write, flush } = createSpokenPieces();
  const pieces: string[] = [];
  for (let at = 0; at < markdown.length; at += size) pieces.push(...write(markdown.slice(at, at + size)));
  return [...pieces, ...flush()];
}

/** What the service says, without the pauses: the last line of a piece needs no full stop. */
const wordsOf = (...texts: string[]) => texts.map(speakable).join('').replaceAll(/[.\s]/g, '');

describe.each([Infinity, 7, 1])(
  'of an answer that comes in parts of %s characters, the pieces say what it says',
  (size) => {
    test.each([
      ['code', 'Run this:\n\n```sh\nrm -r .\n```\n\nThen wait.'],
      ['code without an end', 'Run this:\n```sh\nrm -r .\nand more'],
      ['code in a list', '- Run:\n  ~~~sh\n  rm -r .\n  ~~~\n1. ```js\n   a\n   ```\n> ```\n> a\n> ```\nThe end.'],
      ['a table', 'So:\n\n|a|b|\n|-|-|\n|It is. Or|d|\n\nThe end.'],
      ['an image', 'Look: ![a cat](https://e.org/cat.png) Nice.'],
      ['an alert', '> [!NOTE]\n> Read this.'],
      ['an address', 'See https://e.org/a.b/c?d=e for more.'],
      ['emphasis', '**Very. Nice.** And *nice and ~~not. So~~ No.* and __bad__. "**No.**" It is 3*4*5. _Well_.'],
      ['emphasis that does not end', '**Very. Nice\nThe end.'],
      ['names in code', 'Set `max_tokens. Or` in read_aloud. It is ``a ` b. C``. So.'],
      ['tags in code', 'Write `<br>`, `&amp;` and `C:\\*.txt *.md`.'],
      ['links', 'Read [the guide. And more](https://e.org/?a=b). Then *go*.'],
      ['headings', '## Soup\n\nStir it.'],
      ['lists with their numbers', '3. Cut.\n4. Cook:\n   - long\n   - hot\n5. Eat.'],
      ['quotes', '> To be\n> or not.'],
      [
        'math',
        'So\n$$\na = b. C\n= d\n$$\nholds.\n\\[\nx\n\\]\n\\begin{align}\na &= b. So\n\\end{align}\n$a = b$ is \\(c\\).',
      ],
      ['math that does not end', 'So\n\\[\nx = y'],
      ['Chinese and Japanese', '中文很好。日本語も？'],
      ['Arabic and Hebrew', 'مرحبا. **كيف** الحال؟ שלום.'],
      ['brackets that are not a link', 'So a[1] is [sic] x[1][2].'],
      ['citations', 'It is [1]. So[2](https://e.org).'],
      ['emoji within a sentence', 'Well 👩‍👩‍👧 done.'],
      ['rules and what is plain', 'a\n\n---\n\n|x| is 5.\n$HOME/$USER'],
    ])('%s', (_what, markdown) => {
      const pieces = piecesOf(markdown, size);
      expect(wordsOf(...pieces)).toBe(wordsOf(markdown));
      expect(piecesOf(markdown)).toEqual(pieces);
    });

    test.each([
      ['only code', '```js\nlet a;\n```'],
      ['only emoji and signs', '🎉🎉\n\n---\n\n…'],
      ['only white space', ' \n\n '],
      ['only an image and an address', '![a cat](b.png)\n\nhttps://e.org'],
    ])('there are no pieces, if it is %s', (_what, markdown) => {
      expect(piecesOf(markdown, size)).toEqual([]);
    });
  },
);

test('the first sentence is complete when a word follows it, or when its line ends', () => {
  expect(createSpokenPieces().write('Yes. ')).toEqual([]);
  expect(createSpokenPieces().write('Yes. It')).toEqual(['Yes.']);
  expect(createSpokenPieces().write('# Yes\n\n')).toEqual(['# Yes']);
});

test.each([
  'My friend Dr. Johnson met Mrs. Hill and Prof. Ash on Mt. Everest. ',
  'J. R. R. Tolkien wrote No. 5 here on Sept. 3 of that year. ',
  'Nimm z. B. Äpfel, d. h. Obst, bzw. Nüsse inkl. Schale. ',
  'Frl. Ott kam am 3. Oktober mit Hrn. Maier und 5 Mio. Gästen. ',
  'M. Dupont et Mme. Curie arrivent. ',
  'La Sra. Ruiz y el Dr. Paz, p. ej. Ana. ',
  'Смотри г. Москва и стр. 5 там. ',
  '네 그래요. ',
])('the first sentence continues after an abbreviation: %s', (sentence) => {
  expect(createSpokenPieces().write(`${sentence}Then`)).toEqual([sentence.trim()]);
});

test.each(['He said no. ', 'It is so. ', 'Das ist alles. ', 'Ja. ', 'Non. '])(
  'and ends after a word: %s',
  (sentence) => {
    expect(createSpokenPieces().write(`${sentence}Then`)).toEqual([sentence.trim()]);
  },
);

test('a word in whose middle the provider stalls is not read before its end', () => {
  const { write, flush } = createSpokenPieces();
  expect(write('Hello there. Won')).toEqual(['Hello there.']);
  expect(write('derful')).toEqual([]);
  expect(flush()).toEqual(['Wonderful']);
});

test('a step of the answer ends a sentence, and its code', () => {
  const { write, flush } = createSpokenPieces();
  expect([...write('Let me see\n```\nno'), ...flush()]).toEqual(['Let me see']);
  expect([...write('It is there.'), ...flush()]).toEqual(['It is there.']);
});

describe('an answer of 3,000 characters is read in at most 16 pieces:', () => {
  const filled = (text: string) => text.repeat(3_000).slice(0, 3_000);
  const long = 'wordwordwo '.repeat(54);
  test.each([
    ['sentences', filled('The quick brown fox jumps over the lazy dog. ')],
    ['the shortest sentences', filled('A! ')],
    ['lines', filled('- a\n')],
    ['words without a full stop', filled('word ')],
    ['one word', filled('a')],
    ['Chinese', filled('中文很好。')],
    ['clauses of every length', filled(`so, ${long}${'word '.repeat(7)}`)],
    ['a short sentence before a long one, again and again', filled(`So. ${long}${long.slice(9)}. `)],
  ])('%s', (_what, text) => {
    const pieces = piecesOf(text, 25);
    expect(pieces.length).toBeLessThanOrEqual(16);
    expect(pieces.join('').replace(/\s/g, '')).toBe(text.replace(/\s/g, ''));
  });
});

test('an answer of 100,000 characters without a full stop is read from its first 700 on, in bounded pieces', () => {
  const text = 'word '.repeat(20_000);
  expect(createSpokenPieces().write(text.slice(0, 700))).toHaveLength(1);
  const pieces = piecesOf(text, 50);
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(600);
  expect(pieces.join(' ')).toBe(text.trim());
});

describe('the first piece may be a clause:', () => {
  const write = (markdown: string) => {
    const { write: add } = createSpokenPieces({ longest: 300, shortest: [0, 24], sentenceEnds: clauseOrSentenceEnds });
    return Array.from(markdown).flatMap((character) => add(character))[0];
  };

  test.each([
    ['after a comma', 'As far as I can tell,', ' it rains'],
    ['after a colon or semicolon', 'There are two of them:', ' one is'],
    ['of 18 characters', 'If it rains Monday,', ' take'],
    ['of several short ones', 'Well, if it rained,', ' take'],
    ['with a number', 'It has cost 1,000 euros;', ' that is'],
    ['with a time', 'The 12:30 train is late,', ' as usual'],
    ['with an address', 'See https://e.org/a,b;c for it,', ' where'],
    ['after marks', 'It is **very, very** long,', ' **but**'],
    ['in Chinese', '如果今天下雨，', '请带伞'],
    ['in Japanese', '今日は雨なので、', '傘を'],
  ])('%s', (_what, clause, rest) => {
    expect(write(`${clause}${rest}`)).toBe(clause);
  });

  test.each([
    ['that is too short', 'If it rains today, take an umbrella.'],
    ['that is too short in Chinese', '你好，请带伞。'],
    ['in a number', 'The whole thing has cost 1,000 euros.'],
    ['in a time', 'The next train leaves at 12:30 sharp.'],
    ['in an address', 'See the page https://e.org/a,b:c;d for it.'],
    ['in code', 'You can write `a, b, c, d, e, f` there.'],
    ['in emphasis', 'This is **one long, and bold clause** of it.'],
    ['in a link', 'You can read [a long, long guide](https://e.org) now.'],
    ['in a table', '| the first one, | the second, and |'],
    ['before what would begin a list', 'The temperature today is: -5 degrees.'],
    ['after the sentence', 'It is cold. If it rains today, take an umbrella.'],
  ])('but not one %s', (_what, markdown) => {
    expect(write(`${markdown}\n`)).toBe(markdown.split(/(?<=\. )/)[0]?.trim());
  });

  test('the second piece is a sentence', () => {
    const { write: add } = createSpokenPieces({ longest: 300, shortest: [0], sentenceEnds: clauseOrSentenceEnds });
    const sentence = 'As far as I can tell, it rains, but the sun shines.';
    expect(add(`${sentence} ${sentence}\n`)).toEqual([
      'As far as I can tell,',
      'it rains, but the sun shines.',
      sentence,
    ]);
  });
});
