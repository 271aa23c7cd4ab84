/** What stays on the user's device. */
import { expect, test } from 'vitest';
import { defaults, readPreferences, writePreferences, type PreferenceStorage } from '../../page/preference-storage.ts';

function memory(stored?: string): PreferenceStorage {
  const items = new Map(stored === undefined ? [] : [['parlance-settings', stored]]);
  return { getItem: (name) => items.get(name) ?? null, setItem: (name, value) => void items.set(name, value) };
}

const blocked = (): PreferenceStorage => {
  throw new DOMException('', 'SecurityError');
};

test('are read as they were written', () => {
  const storage = memory();
  const settings = {
    ...{ ...defaults, chatModel: 'llama', voice: 'en', readAloud: true, pauseMs: 2_000 },
    ...{ language: 'de', translate: true, keywords: 'Ada', systemPrompt: 'x'.repeat(32_000), temperature: 0 },
    ...({ bargeIn: 'never', speakers: 'voice', speakerCount: 2 } as const),
  };
  writePreferences(() => storage, settings);
  expect(readPreferences(() => storage)).toEqual(settings);
});

test('know languages whose code has three letters', () => {
  const storage = memory();
  writePreferences(() => storage, { ...defaults, language: 'yue' });
  expect(readPreferences(() => storage).language).toBe('yue');
});

test.each([
  ['nothing', undefined],
  ['no JSON', '{'],
  ['another type', '[]'],
  ['null', 'null'],
  ['fields of other types', '{"chatModel":1,"sendAtOnce":"yes","readAloud":0}'],
  ['values out of range', '{"pauseMs":100000,"bargeIn":"sometimes","temperature":2.1,"language":"german"}'],
  ['other ways and numbers of speakers', '{"speakers":"smell","speakerCount":33}'],
  ['a fraction of a speaker', '{"speakers":5,"speakerCount":2.5}'],
  ['texts that are too long', JSON.stringify({ keywords: 'x'.repeat(1_001), systemPrompt: 'x'.repeat(32_001) })],
  ['unknown fields', '{"conversation":["secret"],"__proto__":{"sendAtOnce":true}}'],
])('are the defaults for %s', (_what, stored) => {
  expect(readPreferences(() => memory(stored))).toEqual(defaults);
});

test('are the defaults where storage is blocked', () => {
  writePreferences(blocked, defaults);
  expect(readPreferences(blocked)).toEqual(defaults);
});
