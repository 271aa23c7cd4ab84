/** The voices: in order, found, and the default by its name. */
import { describe, expect, test } from 'vitest';
import { listVoices, nameOfDefault, sampleOf, searchOffers, searchVoices } from '../../page/voices.ts';
import type { Preparation, SpeechModelEntry } from '../../src/client/index.ts';

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
      'Another language: Odd',
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

  test.each([
    ['de', 'Hallo!'],
    ['fr-CA', 'Bonjour'],
    ['en', 'Hello!'],
    [null, 'Hello!'],
    ['xx', '1, 2, 3'],
    ['__proto__', '1, 2, 3'],
  ])('speak a sentence in their language: %s', (language, text) => {
    expect(sampleOf(entry([voice('one', 'One', language)]), 'one')).toContain(text);
  });

  test('that can be installed are found by title, purpose and id', () => {
    const offer = { id: 'de_DE-mls-medium', title: 'German voices', purpose: 'Good for reading.' } as Preparation;
    const found = (query: string) => searchOffers([offer], query).length;
    expect(['', 'GERMAN', 'reading german', 'mls', 'french'].map(found)).toEqual([1, 1, 1, 1, 0]);
  });

  test('have a default with its name', () => {
    expect(nameOfDefault(entry([voice('en', 'English', 'en')], 'en'))).toBe('English');
    expect(nameOfDefault(entry([], 'alloy'))).toBe('alloy');
    expect(nameOfDefault(entry([]))).toBe('Default');
    expect(nameOfDefault(undefined)).toBe('Default');
  });
});
