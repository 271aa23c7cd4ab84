/** Which languages a request may name, by the vocabulary of the model. */
import { expect, test } from 'vitest';
import { languageFor, limitTo } from '../../../engines/whisper-cli/models.ts';

const old = { multilingual: true, knowsCantonese: false };
const large = { multilingual: true, knowsCantonese: true };
const english = { multilingual: false, knowsCantonese: false };

test('a language without a code in ISO 639-1 is accepted by the models that know it', () => {
  expect(languageFor('haw', old, 'base')).toBe('haw');
  expect(languageFor('haw', large, 'large')).toBe('haw');
  expect(languageFor('yue', large, 'large')).toBe('yue');
  expect(languageFor('jv', old, 'base')).toBe('jw');
});

test.each([
  ['yue', old, 'The model base does not support Cantonese (yue); Whisper does since large-v3.'],
  ['yue', english, 'The model base supports only English (en), not "yue".'],
  ['xx', large, 'Whisper does not support the language "xx".'],
])('else the message does not deny that %s is a language', (language, file, message) => {
  expect(() => languageFor(language, file, 'base')).toThrow(
    expect.objectContaining({ code: 'language-not-supported', message }) as Error,
  );
});

test('several limit the detection to those that the model knows', () => {
  expect(limitTo(['yue', 'haw', 'jv'], old)).toEqual({ language: 'auto', languages: ['haw', 'jw'] });
  expect(limitTo(['yue', 'xx'], large)).toEqual({ language: 'yue' });
  expect(limitTo(['yue'], old)).toEqual({});
});
