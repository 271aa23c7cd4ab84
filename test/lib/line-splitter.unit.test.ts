/** Lines of a program's output, in chunks as they happen to arrive. */
import { describe, expect, it } from 'vitest';
import { LineSplitter } from '../../lib/json-lines.ts';

function linesOf(chunks: readonly string[], limit = 100): string[] {
  const lines = new LineSplitter(limit);
  return [...chunks.flatMap((chunk) => [...lines.push(Buffer.from(chunk))]), ...lines.end()];
}

describe('lines', () => {
  it.each([
    [['a\nb\n'], ['a', 'b']],
    [['a\r\nb\rc'], ['a', 'b', 'c']],
    [
      ['a\r', '\nb'],
      ['a', 'b'],
    ],
    [
      ['a\n\n', '\r\r\nb'],
      ['a', '', '', '', 'b'],
    ],
    [
      ['a', 'b', '\nc', ''],
      ['ab', 'c'],
    ],
    [[], []],
  ])('of %j are %j', (chunks, lines) => {
    expect(linesOf(chunks)).toEqual(lines);
  });

  it('may have characters that are split between chunks', () => {
    const lines = new LineSplitter(100);
    const bytes = Buffer.from('日本\n');
    expect([...lines.push(bytes.subarray(0, 4)), ...lines.push(bytes.subarray(4))]).toEqual(['日本']);
  });

  it('are cut at the limit', () => {
    expect(linesOf(['abcdef\nabc\n', 'abc', 'def', 'ghi'], 4)).toEqual(['abcd', 'abc', 'abcd']);
  });

  it('over the limit throw where nothing may be lost', () => {
    const lines = new LineSplitter(4, 'throw');
    expect([...lines.push(Buffer.from('abcd\nab'))]).toEqual(['abcd']);
    expect(() => [...lines.push(Buffer.from('cde'))]).toThrow('message exceeds 4 bytes');
  });

  it('may arrive byte by byte', () => {
    const lines = new LineSplitter(10_000);
    for (let count = 0; count < 5_000; count += 1) expect([...lines.push(Buffer.of(120))]).toEqual([]);
    expect([...lines.push(Buffer.of(10))]).toEqual(['x'.repeat(5_000)]);
  });
});
