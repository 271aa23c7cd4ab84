import { describe, expect, it } from 'vitest';
import { parseObject } from '../../lib/json.ts';

describe('JSON of a provider', () => {
  it.each(['[]', '"text"', 'null', '{', ''])('is undefined when it is not an object: %s', (text) => {
    expect(parseObject(text)).toBeUndefined();
  });

  it('is not parsed when it would become a hundred times its bytes', () => {
    expect(parseObject(`{"pad":[${'{},'.repeat(1_100_000)}0]}`)).toBeUndefined();
  });

  it('may be long', () => {
    const content = 'word '.repeat(1_000_000);
    expect(parseObject(JSON.stringify({ content }))).toEqual({ content });
  });
});
