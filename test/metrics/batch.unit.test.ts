import { describe, expect, it } from 'vitest';
import { createBatch } from '../../src/metrics/batch.ts';

describe('a batch', () => {
  it('counts with the next flush, in order, and once', () => {
    const counted: number[] = [];
    const batch = createBatch({ error: () => expect.unreachable() });
    for (const number of [1, 2, 3]) batch.add(() => counted.push(number));
    expect(counted).toEqual([]);
    batch.flush();
    batch.flush();
    expect(counted).toEqual([1, 2, 3]);
  });

  it('holds 256 at most', () => {
    let counted = 0;
    const batch = createBatch({ error: () => expect.unreachable() });
    for (let added = 0; added < 255; added += 1) batch.add(() => (counted += 1));
    expect(counted).toBe(0);
    batch.add(() => (counted += 1));
    expect(counted).toBe(256);
  });

  it('logs what cannot be counted, and counts the rest', () => {
    const logged: object[] = [];
    let counted = 0;
    const failure = new TypeError('Value is not a valid number');
    const batch = createBatch({ error: (facts) => logged.push(facts) });
    batch.add(() => {
      throw failure;
    });
    batch.add(() => (counted += 1));
    batch.flush();
    expect({ counted, logged }).toEqual({ counted: 1, logged: [{ err: failure }] });
  });
});
