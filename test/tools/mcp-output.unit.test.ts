/** What the model reads of a result that has both text and structured content. test/tools/mcp-misbehaving has the rest. */
import { describe, expect, test } from 'vitest';
import { toText } from '../../src/tools/mcp/output.ts';

const read = (texts: readonly string[], structuredContent: Record<string, unknown>) =>
  toText({ content: texts.map((text) => ({ type: 'text', text })), structuredContent });

describe('structured content is added to', () => {
  test.each<[string, string, Record<string, unknown>]>([
    ['a summary', 'Found 1 page.', { pages: [{ id: 17, title: 'Größe "A"' }] }],
    ['a text with some of its values', 'Sunny in Paris.', { city: 'Paris', sky: 'sunny', degrees: 21 }],
    ['a text with its values in other words', '142 of Parisian origin', { sum: 42, city: 'Paris' }],
    ['a text with other JSON', '{"ok":true}', { ok: true, id: 17 }],
  ])('%s', (_what, text, structured) => {
    expect(read([text], structured)).toBe(`${text}\n${JSON.stringify(structured)}`);
  });
});

describe('structured content is left out beside', () => {
  const structured = { title: 'a "b"\nc', id: 17, sub: { list: [1.5, true, null] } };
  test.each<[string, readonly string[], Record<string, unknown>]>([
    ['the same JSON', [JSON.stringify(structured)], structured],
    ['the same JSON with spaces', [JSON.stringify(structured, null, 2)], structured],
    ['the same JSON with escapes', ['{"text":"Gr\\u00f6\\u00dfe\\n\\u2713"}'], { text: 'Größe\n✓' }],
    ['the same values, each in a text of its own', ['one', 'two'], { result: ['one', 'two'] }],
    ['the same values in a sentence', ['the sum is 42.'], { sum: 42 }],
    ['any text, if it is empty', ['Nothing found.'], { pages: [] }],
  ])('%s', (_what, texts, structured) => expect(read(texts, structured)).toBe(texts.join('\n')));
});

test('structured content and text together have 32,000 characters', () => {
  const long = 'x'.repeat(20_000);
  const text = read(['Two parts.'], { a: long, b: long });
  expect(text).toMatch(/^Two parts\.\n\{"a":"x+","b":"x+\n\[truncated: the result has 40026 characters\]$/);
  expect(text.length).toBeLessThanOrEqual(32_000);
});

test('structured content that is nested too deeply is named, or left out', () => {
  const deep = JSON.parse(`{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`) as Record<string, unknown>;
  expect(read([], deep)).toBe('[structured content, nested too deeply]');
  expect(read(['A summary.'], deep)).toBe('A summary.\n[structured content, nested too deeply]');
});
