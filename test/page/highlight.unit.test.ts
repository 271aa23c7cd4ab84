/** Colors of code, and the text of Markdown for those who listen. */
import { expect, test } from 'vitest';
import { highlight } from '../../page/highlight.ts';
import { plainTextOf } from '../../page/plain-text.ts';

test.each([
  ['const one = "a // b"; // two', [['const', 'word'], ['"a // b"', 'string'], ['// two', 'comment']]],
  ['# a comment\ndef f(x): return 0x1F', [['# a comment', 'comment'], ['def', 'word'], ['return', 'word'], ['0x1F', 'number']]],
  ["it's open", []],
  ['<b>1</b>', [['1', 'number']]],
  ['a /* b return', [['/* b return', 'comment']]],
  ['', []],
])('code has colors: %s', (code, colored) => {
  const pieces = highlight(code);
  expect(pieces.map(([text]) => text).join('')).toBe(code);
  expect(pieces.filter(([, kind]) => kind)).toEqual(colored);
}); // prettier-ignore

test('code that is long, or tries to take long, stays whole', () => {
  for (const code of ['"', '/*', '\\"', '<!--', 'a', "'\\"].map((piece) => piece.repeat(10_000 / piece.length))) {
    const pieces = highlight(code);
    expect(pieces.map(([text]) => text).join('')).toBe(code);
  }
  expect(highlight('if '.repeat(10_000))).toHaveLength(1);
});

test('an answer is announced as text', () => {
  const markdown =
    '# Title\n\nSome **bold** `code` and [a link](https://a.example/).\n\n- one\n- two\n\n```js\nlet a;\n```';
  expect(plainTextOf(markdown)).toBe('Title\nSome bold code and a link.\none\ntwo\nlet a;');
});
