import { describe, expect, it } from 'vitest';
import { matches, stepsOf, withAnswer } from './support/answers.ts';

describe('the comparison of answers', () => {
  it('reads commands and their answers', () => {
    expect(stepsOf('$ one\nfirst\nsecond\n$ two\n')).toEqual([
      { command: 'one', answer: 'first\nsecond' },
      { command: 'two', answer: '' },
    ]);
  });

  it.each([
    ['the same', 'a\nb', 'a\nb', true],
    ['another text', 'a', 'b', false],
    ['more than is shown', 'a\nb', 'a', false],
    ['an omission within a line', '{"a":1,"b":2}', '{"a":1,...}', true],
    ['an omission of lines', 'a\nb\nc\nd', 'a\n...\nd', true],
    ['a difference beside an omission', 'a\nb\nd', 'x\n...\nd', false],
    [
      'another id',
      '6651ec19-6089-40ee-926d-c7091b758329 /clips/mO88F-aYqo7gILIRvG0K5Q',
      'b81c7a6b-b765-4e00-8b40-0d240a9379d9 /clips/Jdy1NaIo7WBlzpSy8jbpaw',
      true,
    ],
  ])('takes %s for %s', (_what, actual, shown, same) => {
    expect(matches(actual, shown)).toBe(same);
  });

  it('writes the real answer into a page, unless it shows an omission', () => {
    const page = '$ one\nold\n';
    expect(withAnswer(page, { command: 'one', answer: 'old' }, 'new\r\n')).toBe('$ one\nnew\n');
    expect(withAnswer('$ one\n...\n', { command: 'one', answer: '...' }, 'new')).toBe('$ one\n...\n');
  });
});
