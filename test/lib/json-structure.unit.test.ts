import fc from '../support/fast-check.ts';
import { describe, expect, it } from 'vitest';
import { JsonStructure } from '../../lib/json-structure.ts';

/** The structure of the text, added in chunks of so many bytes. */
function measure(text: string, chunkBytes = Infinity) {
  const bytes = Buffer.from(text);
  const structure = new JsonStructure();
  const step = Math.min(chunkBytes, bytes.length || 1);
  for (let i = 0; i < bytes.length; i += step) structure.add(bytes.subarray(i, i + step));
  const { tokens, deepest, isClosed } = structure;
  return { tokens, deepest, isClosed };
}

/** By the definition: every `{`, `[` and `,` of a JSON text outside of its strings. */
function naiveMeasure(json: string): ReturnType<typeof measure> {
  const outside = json.replace(/"(?:[^"\\]|\\.)*"/gs, '""');
  let depth = 0;
  let deepest = 0;
  for (const character of outside) {
    if (character === '{' || character === '[') deepest = Math.max(deepest, ++depth);
    if (character === '}' || character === ']') depth -= 1;
  }
  return { tokens: outside.match(/[{[,]/g)?.length ?? 0, deepest, isClosed: deepest > 0 };
}

describe('the structure of JSON', () => {
  it.each([
    ['objects', '[{},{},{}]', { tokens: 6, deepest: 2, isClosed: true }],
    ['arrays', '[[[]]]', { tokens: 3, deepest: 3, isClosed: true }],
    ['properties', '{"a":1,"b":[2,3]}', { tokens: 4, deepest: 2, isClosed: true }],
    ['an incomplete object', '{"a":1,"b":[2', { tokens: 3, deepest: 2, isClosed: false }],
    ['scalars', '5', { tokens: 0, deepest: 0, isClosed: false }],
  ])('counts %s', (_what, text, measured) => {
    expect(measure(text)).toEqual(measured);
  });

  it.each([
    ['short', '{[,'],
    ['long', '{[,'.repeat(1000)],
    ['long, with escaped quotes', '{[,"'.repeat(1000)],
    ['long, with escaped backslashes before quotes', `${'x'.repeat(2000)}\\"[\\\\"[`],
    ['ending in backslashes', `[${'x'.repeat(2000)}\\\\\\`],
    ['of backslashes', '\\'.repeat(4001)],
  ])('ignores what is in strings: %s', (_what, text) => {
    const json = JSON.stringify([text, text]);
    for (const chunkBytes of [1, 2, 7, 1024, 1500, Infinity]) {
      expect(measure(json, chunkBytes)).toEqual({ tokens: 2, deepest: 1, isClosed: true });
    }
  });

  it('agrees with a naive count for any JSON in any chunks', () => {
    const texts = fc.oneof(
      fc.json(),
      fc.string({ unit: fc.constantFrom('"', '\\', '[', 'x'.repeat(1100)) }).map((s) => JSON.stringify([s, {}])),
    );
    fc.assert(
      fc.property(texts, fc.integer({ min: 1, max: 3000 }), (json, chunkBytes) => {
        expect(measure(json, chunkBytes)).toEqual(naiveMeasure(json));
      }),
    );
  });
});
