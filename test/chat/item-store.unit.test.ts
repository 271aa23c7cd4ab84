/** Items of responses in memory: for how long, how many, and for whom. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createItemStore, type ItemStore } from '../../src/chat/item-store.ts';
import { runInScope, type Key, type RequestScope } from '../../src/request-scope.ts';

const limits = { keepMs: 1_000, items: 3, callerBytes: 2_000, bytes: 3_000 };

let store: ItemStore;
beforeEach(() => {
  vi.useFakeTimers();
  store = createItemStore(limits);
});
afterEach(() => {
  store[Symbol.dispose]();
  vi.useRealTimers();
});

const keyed = (name: string): RequestScope => ({ caller: name, key: { name } as Key });
const open = (caller: string): RequestScope => ({ caller });
const keep = (id: string, length = 1, scope = keyed('one')) =>
  runInScope(scope, () => store.keep(id, { type: 'message', text: 'x'.repeat(length) }));
const has = (id: string, scope = keyed('one')) => runInScope(scope, () => store.find(id) !== undefined);
const known = (...ids: string[]) => ids.filter((id) => has(id));

it('an item is found by its key alone', () => {
  keep('a');
  expect(has('a')).toBe(true);
  expect(has('b')).toBe(false);
  expect(has('a', keyed('two'))).toBe(false);
  expect(has('a', open('one'))).toBe(false);
});

it('in open mode an item is found from every address', () => {
  keep('a', 1, open('10.0.0.1'));
  expect(has('a', open('10.0.0.2'))).toBe(true);
});

it('an item expires', () => {
  keep('a');
  vi.advanceTimersByTime(900);
  keep('b');
  vi.advanceTimersByTime(200);
  expect(known('a', 'b')).toEqual(['b']);
});

it('expired items no longer count and are freed', () => {
  keep('a', 1_600);
  vi.advanceTimersByTime(120_000);
  keep('b', 1_300, keyed('two'));
  keep('c', 1_000);
  expect(has('b', keyed('two'))).toBe(true);
  expect(has('c')).toBe(true);
});

it('a caller keeps its newest items up to the limit', () => {
  for (const id of ['a', 'b', 'c', 'd']) keep(id);
  expect(known('a', 'b', 'c', 'd')).toEqual(['b', 'c', 'd']);
});

it('a caller is limited in bytes, and an oversized item evicts nothing', () => {
  keep('a', 500);
  keep('b', 500);
  keep('c', 3_000);
  expect(known('a', 'b', 'c')).toEqual(['a', 'b']);
  keep('d', 500);
  expect(known('a', 'b', 'd')).toEqual(['b', 'd']);
});

it('above the total limit, the oldest item of the largest caller is evicted first', () => {
  keep('small', 100, keyed('two'));
  keep('a', 700);
  keep('b', 700);
  keep('c', 400, keyed('three'));
  expect(known('a', 'b')).toEqual(['b']);
  expect(has('small', keyed('two'))).toBe(true);
  expect(has('c', keyed('three'))).toBe(true);
});

it('calls count by their arguments', () => {
  const call = { id: 'a', name: 'weather', arguments: 'x'.repeat(3_000) };
  runInScope(keyed('one'), () => store.keep('a', { type: 'function_call', call }));
  expect(has('a')).toBe(false);
});
