/** What is read aloud of an answer, and in which pieces. */
import { describe, expect, test } from 'vitest';
import { createSpokenPieces } from '../../page/speakable.ts';

/** Writes the text in parts of `size` characters. */
function piecesOf(markdown: string, size = Infinity): string[] {
  const { write, flush } = createSpokenPieces();
  const pieces: string[] = [];
  for (let at = 0; at < markdown.length; at += size) pieces.push(...write(markdown.slice(at, at + size)));
  return [...pieces, ...flush()];
}

const spoken = (markdown: string, size?: number) => piecesOf(markdown, size).join(' ').replace(/\s+/g, ' ');

describe.each([Infinity, 7, 1])('of an answer that comes in parts of %s characters, is read', (size) => {
  test.each([
    ['code', 'Run this:\n\n```sh\nrm -r .\n```\n\nThen wait.', 'Run this: Then wait.'],
    ['code without an end', 'Run this:\n```sh\nrm -r .\nand more', 'Run this:'],
    ['an indented block', 'Run this:\n\n    rm -r .\n\nThen wait.', 'Run this: Then wait.'],
    ['a table', 'So:\n\n|a|b|\n|-|-|\n|c|d|\n\nThe end.', 'So: The end.'],
    ['an image', 'Look: ![a cat](https://e.org/cat.png) Nice.', 'Look: Nice.'],
    ['an alert', '> [!NOTE]\n> Read this.', 'Read this.'],
    ['an address', 'See https://e.org/a.b/c?d=e for more.', 'See for more.'],
  ])('no %s', (_what, markdown, words) => {
    expect(spoken(markdown, size)).toBe(words);
  });

  test.each([
    ['emphasis', '**Very** *nice* and ~~not~~ __bad__.', 'Very nice and not bad.'],
    ['names in code', 'Set `max_tokens` in read_aloud.', 'Set max_tokens in read_aloud.'],
    ['links', 'Read [the guide](https://e.org/?a=b).', 'Read the guide.'],
    ['headings', '## Soup\n\nStir it.', 'Soup Stir it.'],
    [
      'lists with their numbers',
      '3. Cut.\n4. Cook:\n   - long\n   - hot\n5. Eat.',
      '3. Cut. 4. Cook: long hot 5. Eat.',
    ],
    ['quotes', '> To be\n> or not.', 'To be or not.'],
    ['math, in one line', 'So $$\na = b\n$$ holds.', 'So \\(a = b \\) holds.'],
    ['Chinese and Japanese', '中文很好。日本語も？', '中文很好。 日本語も？'],
    ['Arabic and Hebrew', 'مرحبا. **كيف** الحال؟ שלום.', 'مرحبا. كيف الحال؟ שלום.'],
    ['brackets that are not a link', 'So a[1] is [sic] x[1][2].', 'So a[1] is [sic] x[1][2].'],
    ['citations, which the service silences', 'It is [1]. So[2](https://e.org).', 'It is [1]. So[2].'],
    ['emoji within a sentence', 'Well 👩‍👩‍👧 done.', 'Well 👩‍👩‍👧 done.'],
  ])('%s', (_what, markdown, words) => {
    expect(spoken(markdown, size)).toBe(words);
  });

  test.each([
    ['only code', '```js\nlet a;\n```'],
    ['only emoji and signs', '🎉🎉\n\n---\n\n…'],
    ['only white space', ' \n\n '],
  ])('nothing, if it is %s', (_what, markdown) => {
    expect(piecesOf(markdown, size)).toEqual([]);
  });
});

test.each(['We want:\n- apples\n- ripe bananas', '# Fruit\napples', '1. Open it.\n2. Close it.'])(
  'a mark that is removed leaves a pause: an empty line (%j)',
  (markdown) => {
    const words = markdown.replace(/^(?:- |# )/gm, '').replaceAll('\n', '\n\n');
    expect(piecesOf(`${markdown}\n`).join('\n\n').replaceAll(/\n\n+/g, '\n\n')).toBe(words);
  },
);

test('the first sentence is complete when a word follows it, or when its line ends', () => {
  expect(createSpokenPieces().write('Yes. ')).toEqual([]);
  expect(createSpokenPieces().write('Yes. It')).toEqual(['Yes.']);
  expect(createSpokenPieces().write('# Yes\n\n')).toEqual(['Yes']);
});

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
    expect(pieces.join('').replace(/\s/g, '')).toBe(text.replace(/^- |\s/gm, ''));
  });
});

test('an answer of 100,000 characters without a full stop is read from its first 700 on, in bounded pieces', () => {
  const text = 'word '.repeat(20_000);
  expect(createSpokenPieces().write(text.slice(0, 700))).toHaveLength(1);
  const pieces = piecesOf(text, 50);
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(600);
  expect(pieces.join(' ')).toBe(text.trim());
});
