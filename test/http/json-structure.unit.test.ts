import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { StructureCheck, type StructureLimits } from '../../src/http/json-structure.ts';

const tooMany = /more than \d+ objects, arrays and commas/;
const tooDeep = /nested more than \d+ levels/;

/** The text in chunks of so many bytes. */
function check(text: string, limits: StructureLimits, chunkBytes = Infinity): void {
  const bytes = Buffer.from(text);
  const structure = new StructureCheck(limits);
  const step = Math.min(chunkBytes, bytes.length || 1);
  for (let i = 0; i < bytes.length; i += step) structure.add(bytes.subarray(i, i + step));
}

const accepts = (text: string, limits: StructureLimits, chunkBytes?: number): boolean => {
  try {
    check(text, limits, chunkBytes);
    return true;
  } catch {
    return false;
  }
};

/** By the definition: every `{`, `[` and `,` of a JSON text outside of its strings. */
function measure(json: string): StructureLimits {
  const outside = json.replace(/"(?:[^"\\]|\\.)*"/gs, '""');
  let depth = 0;
  let deepest = 0;
  for (const character of outside) {
    if (character === '{' || character === '[') deepest = Math.max(deepest, ++depth);
    if (character === '}' || character === ']') depth -= 1;
  }
  return { tokens: outside.match(/[{[,]/g)?.length ?? 0, depth: deepest };
}

describe('the structure of a JSON body', () => {
  it.each([
    ['objects', '[{},{},{}]', { tokens: 6, depth: 2 }],
    ['arrays', '[[[]]]', { tokens: 3, depth: 3 }],
    ['properties', '{"a":1,"b":[2,3]}', { tokens: 4, depth: 2 }],
    ['scalars', '5', { tokens: 0, depth: 0 }],
  ])('counts %s', (_what, text, { tokens, depth }) => {
    expect(() => check(text, { tokens, depth })).not.toThrow();
    if (tokens > 0) expect(() => check(text, { tokens: tokens - 1, depth })).toThrow(tooMany);
    if (depth > 0) expect(() => check(text, { tokens, depth: depth - 1 })).toThrow(tooDeep);
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
      expect(() => check(json, { tokens: 2, depth: 1 }, chunkBytes)).not.toThrow();
      expect(() => check(json, { tokens: 1, depth: 1 }, chunkBytes)).toThrow(tooMany);
    }
  });

  it('agrees with a naive count for any JSON in any chunks', () => {
    const texts = fc.oneof(
      fc.json(),
      fc.string({ unit: fc.constantFrom('"', '\\', '[', 'x'.repeat(1100)) }).map((s) => JSON.stringify([s, {}])),
    );
    fc.assert(
      fc.property(texts, fc.integer({ min: 1, max: 3000 }), (json, chunkBytes) => {
        const { tokens, depth } = measure(json);
        expect(accepts(json, { tokens, depth }, chunkBytes)).toBe(true);
        expect(accepts(json, { tokens: tokens - 1, depth }, chunkBytes)).toBe(tokens === 0);
        expect(accepts(json, { tokens, depth: depth - 1 }, chunkBytes)).toBe(depth === 0);
      }),
    );
  });
});
