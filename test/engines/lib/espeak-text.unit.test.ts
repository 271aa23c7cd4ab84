import { expect, test } from 'vitest';
import { toSpeakable } from '../../../engines/lib/espeak-text.ts';

test('a text with its own punctuation is unchanged', () => {
  const prose =
    'They paid $12.50 on 2026-11-21, he said. "Why?" Well, e.g. for http://example.com/a; nobody 🎉 knows!\n\n';
  expect(toSpeakable(prose.repeat(100))).toBe(prose.repeat(100));
});

test('pauses are inserted between words', () => {
  expect(toSpeakable('777 '.repeat(40))).toBe(`${'777 '.repeat(18)}, ${'777 '.repeat(18)}, ${'777 '.repeat(4)}`);
});

test('a full stop is removed where espeak-ng would end the sentence at an abbreviation', () => {
  expect(toSpeakable('Dr. Hill, ul. Długiej, z. B. Äpfel, проф. Иванов, No. 5.')).toBe(
    'Dr Hill, ul Długiej, z B Äpfel, проф Иванов, No 5.',
  );
});

test.each(['Vitamin C. Then', 'He ended. Then', 'approx. five', 'By Dr.\nNext', 'am 3. Oktober', 'XIV. Herrscher'])(
  'a full stop stays where it is heard, or may end the sentence: %s',
  (text) => {
    expect(toSpeakable(text)).toBe(text);
  },
);

test('a full stop stays where espeak-ng needs it to expand the abbreviation', () => {
  expect(toSpeakable('Dr. Nagy és pl. Budán', 'hu')).toBe('Dr. Nagy és pl Budán');
  expect(toSpeakable('il dr. Rossi', 'it')).toBe('il dr. Rossi');
});

test.each(['هذا طويل، ', 'यह लंबा है। ', 'ይህ ረጅም ነው። ', 'Αυτό είναι; '])(
  'no comma is inserted in a text with the punctuation of its script: %s',
  (clause) => {
    expect(toSpeakable(clause.repeat(200))).toBe(clause.repeat(200));
  },
);
