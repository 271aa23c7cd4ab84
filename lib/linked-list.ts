/** An item of a list, with its neighbors in it. */
export interface Linked<T> {
  isListed?: boolean;
  older?: T | undefined;
  newer?: T | undefined;
}

/**
 * Items in the order in which they were added. For what comes and goes with each request, instead of a Set: that replaces
 * its table every few additions, and V8 keeps the old tables, with what was in them, until its next full collection
 * (docs/decisions/13-memory-of-a-stream.md).
 */
export class LinkedList<T extends Linked<T>> implements Iterable<T> {
  #oldest: T | undefined;
  #newest: T | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get oldest(): T | undefined {
    return this.#oldest;
  }

  add(item: T): void {
    item.isListed = true;
    item.older = this.#newest;
    if (this.#newest) this.#newest.newer = item;
    else this.#oldest = item;
    this.#newest = item;
    this.#size += 1;
  }

  /** False if the item is not in the list. Without its neighbors: what is gone must not keep what came after it. */
  remove(item: T): boolean {
    if (item.isListed !== true) return false;
    const { older, newer } = item;
    if (older) older.newer = newer;
    else this.#oldest = newer;
    if (newer) newer.older = older;
    else this.#newest = older;
    item.isListed = false;
    item.older = item.newer = undefined;
    this.#size -= 1;
    return true;
  }

  /** Copy it to change the list meanwhile. */
  *[Symbol.iterator](): Generator<T, void, undefined> {
    for (let item = this.#oldest; item; item = item.newer) yield item;
  }
}
