/** Opens the items in their order; the next one is opened while one is in use. */
export async function* openAhead<T, R>(items: readonly T[], open: (item: T) => Promise<R>): AsyncGenerator<R> {
  let coming: Promise<R> | undefined;
  for (const [index, item] of items.entries()) {
    const current = await (coming ?? open(item));
    const next = items[index + 1];
    coming = next === undefined ? undefined : open(next);
    coming?.catch(() => undefined); // it is thrown when its turn comes
    yield current;
  }
}
