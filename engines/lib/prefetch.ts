/** Opens the items in order, and prefetches one: the next item is opened while the current one is in use. */
export async function* prefetch<T, R>(items: readonly T[], open: (item: T) => Promise<R>): AsyncGenerator<R> {
  let prefetched: Promise<R> | undefined;
  for (const [index, item] of items.entries()) {
    const current = await (prefetched ?? open(item));
    const next = items[index + 1];
    prefetched = next === undefined ? undefined : open(next);
    prefetched?.catch(() => undefined); // avoids an unhandled rejection; awaited in the next iteration
    yield current;
  }
}
