import { expect, test } from 'vitest';
import { wordErrorRate } from '../../src/bin/bench/word-errors.ts';

test.each([
  ['the same words', 'Yes, no: hello!', 'yes no hello', 0],
  ['a wrong word', 'yes no hello alpha', 'yes know hello alpha', 1 / 4],
  ['a missing word', 'yes no hello alpha', 'yes hello alpha', 1 / 4],
  ['a word too many', 'yes no hello alpha', 'yes no no hello alpha', 1 / 4],
  ['two words in another order', 'yes no hello alpha', 'no yes hello alpha', 2 / 4],
  ['nothing', 'yes no', '', 1],
  ['invented words', 'yes', 'no no no', 3],
  ['apostrophes', 'Don’t say "it\'s"', 'dont say its', 0],
  ['hyphens', 'a well-known box', 'a well known box', 0],
  ['another form of the same letters', 'Über Straße ﬁne', 'u\u0308ber STRASSE fine', 0],
  ['digits instead of a word', 'two dogs', '2 dogs', 1 / 2],
  ['a wrong character of Chinese', '今天天气', '今天天汽。', 1 / 4],
  ['a missing character of Japanese', 'コーヒーを3杯', 'コーヒーを 杯', 1 / 7],
  ['a wrong mark in Thai', 'น้ำใจ', 'นำใจ', 1 / 4],
  ['Korean, which has spaces', '안녕 세계', '안녕 세상', 1 / 2],
])('%s', (_what, expected, transcript, rate) => {
  expect(wordErrorRate(expected, transcript)).toBe(rate);
});
