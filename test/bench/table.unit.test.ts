import { expect, test } from 'vitest';
import { explanations } from '../../bench/support/table.ts';
import { readPage } from '../docs/support/pages.ts';

const row = { what: '  a row', measured: '2 ms', against: '1 ms', ratio: 2 };

test.each([
  ['says nothing about a row without a goal', row, []],
  ['says nothing about a row that meets its goal', { ...row, goal: { atMost: 2 }, note: 'Why.' }, []],
  [
    'explains a ratio above its goal',
    { ...row, goal: { atMost: 1.9 }, note: 'Why.' },
    ['These rows miss their goal:', '- **a row**: Why.'],
  ],
  [
    'names a value below its goal that has no explanation',
    { ...row, goal: { atLeast: 5, value: 4, unit: 'ms' } },
    ['These rows miss their goal:', '- **a row**: Not explained yet.'],
  ],
])('the page of the benchmarks %s', (_what, measured, lines) => {
  expect(explanations([measured])).toEqual(lines);
});

test('the page of the benchmarks explains every row that misses its goal', () => {
  expect(readPage('docs/benchmarks.md')).not.toContain('Not explained yet.');
});
