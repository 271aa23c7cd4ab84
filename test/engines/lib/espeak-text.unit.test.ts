import { expect, test } from 'vitest';
import { toSpeakable } from '../../../engines/lib/espeak-text.ts';

test('a text with its own punctuation is unchanged', () => {
  const prose =
    'Mr. Smith paid $12.50 on 2026-11-21, he said. "Why?" Well, e.g. for http://example.com/a; nobody 🎉 knows!\n\n';
  expect(toSpeakable(prose.repeat(100))).toBe(prose.repeat(100));
});

test('pauses are inserted between words', () => {
  expect(toSpeakable('777 '.repeat(40))).toBe(`${'777 '.repeat(18)}, ${'777 '.repeat(18)}, ${'777 '.repeat(4)}`);
});
