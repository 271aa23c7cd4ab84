/** The event parser of the client, against that of the service. */
import { createParser } from 'eventsource-parser';
import { expect, test } from 'vitest';
import { createEventParser } from '../../src/client/event-data.ts';

function byLibrary(text: string): string[] {
  const all: string[] = [];
  createParser({ onEvent: ({ data }) => all.push(data) }).feed(text);
  return all;
}

function inParts(text: string, size: number): string[] {
  const parse = createEventParser();
  const parts = Array.from({ length: Math.ceil(text.length / size) }, (_, i) => text.slice(i * size, (i + 1) * size));
  return parts.flatMap(parse);
}

/** Six events, and one that is not complete. */
const stream = `data: one

data:two
data:  three

: comment
event: x
id: 1
data

data: a: b


datum: none
 data: none

retry: 5

data:
data:

data: [\u2028]

data: open`;

test.each([
  ['LF', '\n'],
  ['CR LF', '\r\n'],
  ['CR', '\r'],
])('lines that end with %s, in parts of any size', (_name, end) => {
  const text = stream.replaceAll('\n', end);
  const expected = byLibrary(text);
  expect(expected).toHaveLength(6);
  for (let size = 1; size <= text.length; size += 1) expect(inParts(text, size), `size ${size}`).toEqual(expected);
});

test('takes linear time for one long line', () => {
  const text = `data: ${'x'.repeat(3_000_000)}\n\n`;
  expect(inParts(text, 10)[0]).toHaveLength(3_000_000);
});
