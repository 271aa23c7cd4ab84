import { describe, expect, it } from 'vitest';
import { ByteBudget, smallBody } from '../../src/http/body/body-budget.ts';

const KB = 1024;

/** Bodies by name, and which of them were refused for the sake of another. */
function open({ reserve = 1000 * KB, shared = 1000 * KB } = {}) {
  const budget = new ByteBudget({ reserve, shared });
  const refused: string[] = [];
  /** Sizes count what is beyond the first 64 KB. */
  const begin = (caller: string, name = caller) => {
    const claim = budget.reserve(caller, { refuse: () => void refused.push(name) });
    return {
      grow: (bytes: number) => claim.grow(smallBody + bytes),
      settle: (bytes: number) => claim.settle(smallBody + bytes),
      growTo: (bytes: number) => claim.grow(bytes),
      settleTo: (bytes: number) => claim.settle(bytes),
      release: () => claim.release(),
    };
  };
  return { begin, refused };
}

const overloaded = expect.objectContaining({ code: 'overloaded' }) as Error;

describe('the memory budget for bodies', () => {
  it('counts received bytes', () => {
    const { begin, refused } = open();
    const first = begin('a');
    first.grow(100 * KB);
    first.grow(400 * KB);
    begin('b').grow(400 * KB);
    expect(() => begin('c').grow(201 * KB)).not.toThrow();
    expect(refused).toHaveLength(1);
  });

  it('releases once', () => {
    const { begin, refused } = open();
    const first = begin('a');
    first.grow(900 * KB);
    first.release();
    first.release();
    begin('b').grow(1000 * KB);
    expect(() => begin('c').grow(1)).not.toThrow();
    expect(refused).toEqual(['b']);
  });

  it('releases what is not kept after reading', () => {
    const { begin, refused } = open();
    const first = begin('a');
    first.grow(1000 * KB);
    first.settle(100 * KB);
    begin('b').grow(900 * KB);
    expect(refused).toEqual([]);
    expect(() => begin('c').grow(1)).not.toThrow();
    expect(refused).toEqual(['b']);
  });

  it('rejects the newest unfinished body of the caller that holds the most', () => {
    const { begin, refused } = open();
    begin('greedy', 'older').grow(200 * KB);
    begin('greedy', 'newer').grow(200 * KB);
    begin('b').grow(300 * KB);
    const settled = begin('c');
    settled.grow(300 * KB);
    settled.settle(300 * KB);
    begin('d').grow(100 * KB);
    expect(refused).toEqual(['newer']);
    begin('e').grow(250 * KB);
    expect(refused).toEqual(['newer', 'b']);
  });

  it('rejects the newcomer if its caller would hold the most', () => {
    const { begin, refused } = open();
    begin('a').grow(400 * KB);
    begin('b').grow(400 * KB);
    const newcomer = begin('c');
    newcomer.grow(100 * KB);
    expect(() => newcomer.grow(401 * KB)).toThrow(overloaded);
    expect(refused).toEqual([]);
  });

  it('never evicts the body of a request in flight', () => {
    const { begin, refused } = open();
    const settled = begin('a');
    settled.grow(900 * KB);
    settled.settle(900 * KB);
    expect(() => begin('b').grow(101 * KB)).toThrow(overloaded);
    expect(refused).toEqual([]);
  });

  it('limits a caller to half, but allows all of it for a single body', () => {
    const { begin, refused } = open();
    const single = begin('a', 'single');
    single.grow(1000 * KB);
    single.release();
    begin('a', 'first').grow(300 * KB);
    const second = begin('a', 'second');
    second.grow(200 * KB);
    expect(() => second.grow(201 * KB)).toThrow(overloaded);
    expect(refused).toEqual([]);
  });

  it('rejects the newer body of a caller when the older one grows beyond half', () => {
    const { begin, refused } = open();
    const older = begin('a', 'older');
    older.grow(300 * KB);
    begin('a', 'newer').grow(200 * KB);
    older.grow(400 * KB);
    expect(refused).toEqual(['newer']);
  });

  it('admits bodies up to 64 KB when large bodies have exhausted the budget', () => {
    const { begin, refused } = open();
    begin('a').grow(1000 * KB);
    const small = begin('b');
    small.growTo(smallBody);
    small.settleTo(smallBody);
    expect(refused).toEqual([]);
  });

  it('limits small bodies to half of the reserve per caller', () => {
    const { begin, refused } = open({ reserve: 10 * smallBody });
    const many = Array.from({ length: 5 }, () => begin('a'));
    for (const body of many) {
      body.growTo(smallBody);
      body.settleTo(smallBody);
    }
    expect(() => begin('a').growTo(1)).toThrow(overloaded);
    expect(() => begin('b').growTo(smallBody)).not.toThrow();
    expect(refused).toEqual([]);
    many[0]?.release();
    expect(() => begin('a').growTo(smallBody)).not.toThrow();
  });
});
