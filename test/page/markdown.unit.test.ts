/** What a hostile text may make of the page: nesting, rows, the number of elements and the time are bounded. */
import { describe, expect, test } from 'vitest';
import * as smd from 'streaming-markdown';
import { bounds } from '../../page/bounded-renderer.ts';
import { Feed } from '../../page/feed.ts';
import { maxDepth, prettyJson } from '../../page/pretty-json.ts';

/** Feeds the text in pieces of `size` characters. */
function draw(markdown: string, size = Infinity) {
  const open: smd.Token[] = [];
  const seen = { depth: 0, elements: 0, cells: 0, text: '', addresses: [] as string[] };
  const feed = new Feed({
    data: undefined,
    add_token: (_data, token) => {
      open.push(token);
      seen.depth = Math.max(seen.depth, open.length);
      seen.elements += 1;
      if (token === smd.TABLE_CELL) seen.cells += 1;
    },
    end_token: () => void open.pop(),
    add_text: (_data, text) => void (seen.text += text),
    set_attr: (_data, attribute, value) => {
      if (attribute === smd.HREF) seen.addresses.push(value);
    },
  });
  for (let at = 0; at < markdown.length; at += size) feed.write(markdown.slice(at, at + size));
  feed.end();
  return seen;
}

const many = 3_000;
const nestedList = (mark: string) =>
  Array.from({ length: many }, (_, depth) => `${' '.repeat(mark.length * depth)}${mark}item`).join('\n');

describe.each([Infinity, 7])('nesting is at most 24 levels deep, in pieces of %s characters:', (size) => {
  test.each([
    ['quotes', `${'> '.repeat(many)}end`],
    ['quotes without spaces', `${'>'.repeat(many)}end`],
    ['quotes of several lines', `${'> '.repeat(many)}one\n${'> '.repeat(many)}end`],
    ['quotes and lists in one line', `${'> - 1. + '.repeat(many)}end`],
    ['emphasis of both kinds', `${'_*'.repeat(many)}end`],
    ['links and emphasis', `${'[*'.repeat(many)}end`],
    ['strikes and emphasis', `${'~~*a'.repeat(many)}end`],
  ])('%s', (_what, markdown) => {
    const { depth, text } = draw(markdown, size);
    expect(depth).toBeLessThanOrEqual(24);
    expect(text).toMatch(/end$/);
  });

  test.each(['- ', '* ', '+ ', '1. '])('a list of "%s"', (mark) => {
    const { depth, text } = draw(nestedList(mark).slice(0, 1_000_000), size);
    expect(depth).toBeLessThanOrEqual(24);
    expect(text.match(/item/g)!.length).toBeGreaterThan(100);
  });
});

test('what is nested deeper is shown flat, on lines of its own', () => {
  const items = nestedList('- ').split('\n').slice(0, 14).join('\n');
  expect(draw('> '.repeat(30) + 'one\ntwo\nthree').text).toBe('one\ntwo\nthree');
  expect(draw(items).text).toMatch(/^(item\n?){14}$/);
});

test('a row of a table has at most 100 cells, and the text of the others', () => {
  const row = (cell: string) => `|${`${cell}|`.repeat(10_000)}\n`;
  const { cells, text } = draw(row('a') + row('-') + row('b'));
  expect(cells).toBeLessThanOrEqual(3 * bounds.columns);
  expect(text.match(/a/g)).toHaveLength(10_000);
  expect(text.match(/b/g)).toHaveLength(10_000);
});

test.each([
  ['list items', '- a\n'],
  ['paragraphs', 'a\n\n'],
  ['lines', 'a\n'],
  ['headings', '# a\n'],
  ['rules', '---\n'],
  ['cells', '|a|a|a|\n', '|b|\n|-|\n'],
  ['emphasis', '*a* '],
])('a text of 10,000 %s has at most 5,000 elements', (_what, markdown, begin = '') => {
  const { elements, text } = draw(begin + markdown.repeat(10_000));
  expect(elements).toBeLessThanOrEqual(bounds.elements);
  const letters = markdown.replace(/[^a]/g, '').length;
  expect(text.replace(/[^a]/g, '')).toHaveLength(10_000 * letters);
});

/** Quadratic ones take a multiple of a test's time limit. */
describe('a line of 200 kB takes linear time:', () => {
  const line = (mark: string) => mark.repeat(200_000 / mark.length);

  test.each(['*', '-', '_', '`', '[', '1', '>', '|', '~', '$', '\\', '\t', 'a_', '_*x', '](a_', '- '])(
    'of "%s"',
    (mark) => {
      expect(draw(line(mark), 10_000).depth).toBeLessThanOrEqual(24);
    },
  );

  test.each([
    ['in an address', '[a](', 'a'],
    ['behind a fence', '```\n\n', ' '],
    ['in the name of a language', '```', 'a'],
    ['of spaces in a tag', '<br', ' '],
    ['of backticks', 'a`', '`'],
    ['of spaces in code', '`', ' '],
  ])('%s', (_what, begin, mark) => {
    expect(draw(`${begin}${line(mark)}x`, 10_000).text.length).toBeLessThanOrEqual(200_000);
  });
});

test('an address is complete, or none', () => {
  const address = `https://e.org/${'a'.repeat(1_900)}`;
  expect(draw(`[a](${address}) b`).addresses).toEqual([address]);
  const { addresses, text } = draw(`[a](https://e.org/${'a'.repeat(5_000)}) end`);
  expect(addresses).toEqual([]);
  expect(text).toMatch(/end$/);
});

test('arguments of a tool are shown to a depth of 24', () => {
  expect(prettyJson({ a: [1, { b: null }] })).toBe(JSON.stringify({ a: [1, { b: null }] }, null, 2));
  const deep: unknown = JSON.parse(`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`);
  const text = prettyJson(deep);
  expect(text.match(/"a"/g)).toHaveLength(maxDepth);
  expect(text).toContain('"…"');
});
