/** An item of a list, with links to its neighbors. */
export interface Linked<T> {
  isListed?: boolean;
  older?: T | undefined;
  newer?: T | undefined;
}

/**
 * A list in the order of addition, for items that come and go with each request. A Set replaces its table every few
 * additions, and V8 keeps the old tables with their contents until its next full collection
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

  /**
   * Returns false if the item is not in the list. Clears its links, so that a removed item does not keep later ones in
   * memory.
   */
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

  /** Do not change the list during the iteration; iterate over a copy instead. */
  *[Symbol.iterator](): Generator<T, void, undefined> {
    for (let item = this.#oldest; item; item = item.newer) yield item;
  }
}
