import { describe, expect, it } from 'vitest';
import { parseObject } from '../../lib/json.ts';

describe('JSON of a provider', () => {
  it.each(['[]', '"text"', 'null', '{', ''])('is undefined if it is not an object: %s', (text) => {
    expect(parseObject(text)).toBeUndefined();
  });

  it('is not parsed if it would need a hundred times its size in memory', () => {
    expect(parseObject(`{"pad":[${'{},'.repeat(1_100_000)}0]}`)).toBeUndefined();
  });

  it('may be long', () => {
    const content = 'word '.repeat(1_000_000);
    expect(parseObject(JSON.stringify({ content }))).toEqual({ content });
  });
});
