/** The result of a job, from its parts. */
import { expect, test } from 'vitest';
import { resultOf } from '../../src/jobs/job.ts';
import type { JobRecord, Part } from '../../src/jobs/record.ts';

const record = { model: 'ears', fields: {}, durationMs: 9_000 } as JobRecord;
const partsOf = (texts: readonly string[]): Part[] =>
  texts.map((text, at) => ({ startMs: at, endMs: at + 1, text, language: null, segments: [], words: [] }));

test.each([
  ['with spaces', ['Good morning.', '', ' It is late. '], 'Good morning. It is late.'],
  ['without spaces in languages that have none', ['请坐。', '明天见'], '请坐。明天见'],
])('its text is that of its parts, joined %s', (_how, texts, text) => {
  expect(resultOf(record, partsOf(texts))).toEqual({ text, language: null, duration_ms: 9_000, model: 'ears' });
});
