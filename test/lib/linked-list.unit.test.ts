import { describe, expect, test } from 'vitest';
import { array, assert, constantFrom, nat, property, tuple } from '../support/fast-check.ts';
import { LinkedList, type Linked } from '../../lib/linked-list.ts';

interface Item extends Linked<Item> {
  readonly name: number;
}

const itemsOf = (list: LinkedList<Item>) => [...list].map(({ name }) => name);

describe('a linked list', () => {
  test('has its items in the order in which they were added', () => {
    const list = new LinkedList<Item>();
    for (const name of [1, 2, 3]) list.add({ name });
    expect(itemsOf(list)).toEqual([1, 2, 3]);
    expect([list.oldest?.name, list.size]).toEqual([1, 3]);
  });

  test('says whether an item was in it', () => {
    const list = new LinkedList<Item>();
    const item = { name: 1 };
    expect(list.remove(item)).toBe(false);
    list.add(item);
    expect(list.remove(item)).toBe(true);
    expect(list.remove(item)).toBe(false);
  });

  test('leaves no neighbor with an item that is gone', () => {
    const list = new LinkedList<Item>();
    const items: Item[] = [1, 2, 3].map((name) => ({ name }));
    for (const item of items) list.add(item);
    list.remove(items[1]!);
    expect(items[1]).toEqual({ name: 2, isListed: false });
  });

  test('behaves as a Set', () => {
    const step = tuple(constantFrom('add', 'remove'), nat(5));
    const behaves = property(array(step, { maxLength: 60 }), (steps) => {
      const items: Item[] = Array.from({ length: 6 }, (_, name) => ({ name }));
      const list = new LinkedList<Item>();
      const set = new Set<number>();
      for (const [what, name] of steps) {
        if (what === 'remove') expect(list.remove(items[name]!)).toBe(set.delete(name));
        else if (!set.has(name)) list.add(items[name]!);
        if (what === 'add') set.add(name);
        expect(itemsOf(list)).toEqual([...set]);
        expect(list.size).toBe(set.size);
      }
    });
    assert(behaves);
  });
});
