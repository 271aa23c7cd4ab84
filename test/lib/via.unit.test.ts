import { expect, test } from 'vitest';
import { createViaId, readVia, writeVia } from '../../lib/via.ts';

const ids = Array.from({ length: 20 }, createViaId);

test('what is written is read', () => {
  expect(readVia(writeVia([], ids[0]!))).toEqual([ids[0]]);
  expect(readVia(writeVia(ids.slice(0, 3), ids[3]!))).toEqual(ids.slice(0, 4));
});

test('ids differ', () => expect(new Set(ids).size).toBe(20));

test('a header has at most 16 ids: the latest', () => {
  expect(readVia(writeVia(ids.slice(0, 19), ids[19]!))).toEqual(ids.slice(4));
  expect(readVia(ids.join(','))).toEqual(ids.slice(4));
});

test.each([undefined, '', 'a', ', ,', 'x'.repeat(17), `${'x'.repeat(15)}é`, 'x'.repeat(15) + ';'])(
  'whatever is no id is skipped: %j',
  (header) => expect(readVia(header)).toEqual([]),
);

test('a repeated header is one list', () => expect(readVia([ids[0]!, `no, ${ids[1]}`])).toEqual([ids[0], ids[1]]));
