/** The voices: in order, found, and the default by its name. */
import { describe, expect, test } from 'vitest';
import { listVoices, nameOfDefault, searchVoices } from '../../page/voices.ts';
import type { SpeechModelEntry } from '../../src/client/index.ts';

const entry = (voices: SpeechModelEntry['voices'], default_voice: string | null = null): SpeechModelEntry => ({
  ...{ id: 's', name: 'S', engine: 's', local: true, available: true, code: 'ready', reason: 'Ready.', supports: [] },
  ...{ voices, default_voice },
});

const voice = (id: string, name: string, language: string | null) => ({ id, name, language });

const listed = listVoices(
  entry([
    voice('many', 'Alloy', null),
    voice('en-b', 'Bella', 'en'),
    voice('fr', 'Zoé', 'fr'),
    voice('speaker-10', 'Speaker 10', 'de'),
    voice('speaker-9', 'Speaker 9', 'de'),
    voice('en-a', 'Arthur', 'en'),
    voice('odd', 'Odd', 'not a language tag'),
  ]),
);

describe('voices', () => {
  test('are listed by language and name, those without a language last', () => {
    expect(listed.map(({ name, language }) => `${language}: ${name}`)).toEqual([
      'English: Arthur',
      'English: Bella',
      'French: Zoé',
      'German: Speaker 9',
      'German: Speaker 10',
      'not a language tag: Odd',
      ': Alloy',
    ]);
  });

  test.each([
    ['', 7],
    ['english', 2],
    ['  BELLA  ', 1],
    ['zoe french', 1],
    ['en-a', 1],
    ['english french', 0],
    ['__proto__', 0],
    ['('.repeat(1_000), 0],
  ])('are found by name, language and id: "%s"', (query, count) => {
    expect(searchVoices(listed, query)).toHaveLength(count);
  });

  test('have a default with its name', () => {
    expect(nameOfDefault(entry([voice('en', 'English', 'en')], 'en'))).toBe('English');
    expect(nameOfDefault(entry([], 'alloy'))).toBe('alloy');
    expect(nameOfDefault(entry([]))).toBe('Default');
    expect(nameOfDefault(undefined)).toBe('Default');
  });
});
