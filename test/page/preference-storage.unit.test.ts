/** What stays on the user's device. */
import { expect, test } from 'vitest';
import { defaults, readSettings, writeSettings, type SettingsStorage } from '../../page/preference-storage.ts';

function memory(stored?: string): SettingsStorage {
  const items = new Map(stored === undefined ? [] : [['parlance-settings', stored]]);
  return { getItem: (name) => items.get(name) ?? null, setItem: (name, value) => void items.set(name, value) };
}

const blocked = (): SettingsStorage => {
  throw new DOMException('', 'SecurityError');
};

test('are read as they were written', () => {
  const storage = memory();
  const settings = { ...defaults, chatModel: 'llama', voice: 'en', readAloud: true, bargeIn: true, pauseMs: 2_000 };
  writeSettings(() => storage, settings);
  expect(readSettings(() => storage)).toEqual(settings);
});

test.each([
  ['nothing', undefined],
  ['no JSON', '{'],
  ['another type', '[]'],
  ['null', 'null'],
  ['fields of other types', '{"chatModel":1,"sendAtOnce":"yes","readAloud":0}'],
  ['values out of range', '{"pauseMs":100000}'],
  ['unknown fields', '{"conversation":["secret"],"__proto__":{"sendAtOnce":true}}'],
])('are the defaults for %s', (_what, stored) => {
  expect(readSettings(() => memory(stored))).toEqual(defaults);
});

test('are the defaults where storage is blocked', () => {
  writeSettings(blocked, defaults);
  expect(readSettings(blocked)).toEqual(defaults);
});
