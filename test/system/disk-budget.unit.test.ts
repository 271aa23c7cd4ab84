import { describe, expect, it } from 'vitest';
import { runInScope } from '../../src/request-scope.ts';
import { DiskBudget, spaceOf, type FileSystemSpace } from '../../src/system/disk-budget.ts';

const mebibyte = 1024 ** 2;
const gibibyte = 1024 ** 3;
const roomy = { freeBytes: 100 * gibibyte, totalBytes: 200 * gibibyte };
const full = expect.objectContaining({ code: 'storage-full' }) as Error;

const budgetOf = (bytes: number, space: () => FileSystemSpace = () => roomy) => new DiskBudget({ bytes, space });

/** How much a holder can take, byte by byte. */
function mostOf(budget: DiskBudget, holder: string): number {
  const account = budget.open({ holder });
  let most = 0;
  try {
    for (; ; most++) account.take(1);
  } catch (error) {
    expect(error).toEqual(full);
  }
  return most;
}

describe('the disk budget', () => {
  it.each([
    ['4 GiB', 100 * gibibyte, 4 * gibibyte],
    ['half of the free space', 3 * gibibyte, 1.5 * gibibyte],
  ])('is %s by default', (_what, freeBytes, bytes) => {
    expect(new DiskBudget({ space: () => ({ ...roomy, freeBytes }) }).bytes).toBe(bytes);
  });

  it('reads the space of a file system', () => {
    const { freeBytes, totalBytes } = spaceOf(import.meta.dirname);
    expect(freeBytes).toBeGreaterThan(0);
    expect(totalBytes).toBeGreaterThanOrEqual(freeBytes);
  });

  it('gives a single holder half, and always leaves space for one more', () => {
    const budget = budgetOf(1200);
    expect(mostOf(budget, 'a')).toBe(600);
    expect(mostOf(budget, 'b')).toBe(300);
    expect(mostOf(budget, 'c')).toBe(150);
    expect(mostOf(budget, 'a')).toBe(0);
    expect(budget.used).toBe(1050);
  });

  it('counts all accounts of a holder together', () => {
    const budget = budgetOf(1000);
    budget.open({ holder: 'a' }).take(400);
    const second = budget.open({ holder: 'a' });
    expect(() => second.take(101)).toThrow(full);
    second.take(100);
    expect(budget.used).toBe(500);
  });

  it('counts for the caller of the request', () => {
    const budget = budgetOf(1000);
    runInScope({ caller: 'a' }, () => budget.open()).take(500);
    expect(() => budget.open({ holder: 'a' }).take(1)).toThrow(full);
    budget.open({ holder: 'b' }).take(1);
  });

  it('takes nothing when it rejects, and releases an account once', () => {
    const budget = budgetOf(1000);
    const [account, other] = [budget.open({ holder: 'a' }), budget.open({ holder: 'a' })];
    other.take(100);
    account.take(300);
    expect(() => account.take(600)).toThrow(full);
    expect(budget.used).toBe(400);
    account[Symbol.dispose]();
    account[Symbol.dispose]();
    expect(budget.used).toBe(100);
    expect(() => account.take(1)).toThrow('closed');
    other[Symbol.dispose]();
    expect(budget.used).toBe(0);
    expect(mostOf(budget, 'a')).toBe(500);
  });

  it('limits a single account', () => {
    const account = budgetOf(1000).open({ limit: 10 });
    account.take(10);
    expect(() => account.take(1)).toThrow(full);
  });
});

describe('the free space of the file system', () => {
  it('is checked for each account, and every 16 MiB in total', () => {
    let asked = 0;
    const budget = budgetOf(gibibyte, () => (asked++, roomy));
    const accounts = [budget.open(), budget.open()];
    expect(asked).toBe(2);
    for (let i = 0; i < 32; i++) for (const account of accounts) account.take(mebibyte);
    expect(asked).toBe(2 + 4);
  });

  it.each([
    ['64 MiB', 200 * gibibyte, 64 * mebibyte],
    ['a hundredth of a small file system', 100 * mebibyte, mebibyte],
  ])('stays above %s', (_what, totalBytes, floor) => {
    const space = { totalBytes, freeBytes: floor };
    const budget = budgetOf(gibibyte, () => space);
    const account = budget.open();
    space.freeBytes -= 1;
    expect(() => budget.open()).toThrow(full);
    expect(() => account.take(16 * mebibyte)).toThrow(full);
    expect(budget.used).toBe(0);
    space.freeBytes += 1;
    account.take(16 * mebibyte);
  });
});
