import { raceAbort } from './abort.ts';

export interface ReadAheadOptions<T> {
  readonly sizeOf: (item: T) => number;
  /** No further item is read while the unread items have at least this size together. */
  readonly limit: number;
  /** Aborts with the source. The source is closed when it aborts. */
  readonly signal: AbortSignal;
}

/**
 * Begins to read a source immediately, before the first `next()`, and continues while its reader is busy. A failure of
 * the source is thrown after the items before it. A reader that leaves early must abort the signal.
 */
export function readAhead<T>(
  source: AsyncIterable<T>,
  options: ReadAheadOptions<T>,
): AsyncGenerator<T, void, undefined> {
  const { sizeOf, limit, signal } = options;
  const unread: T[] = [];
  let size = 0;
  let end: { readonly error?: unknown } | undefined;
  let change = Promise.withResolvers<undefined>();

  function changed(): void {
    change.resolve(undefined);
    change = Promise.withResolvers();
  }

  async function fill(): Promise<void> {
    for await (const item of source) {
      unread.push(item);
      size += sizeOf(item);
      changed();
      while (size >= limit) await raceAbort(change.promise, signal);
    }
  }

  async function* read(): AsyncGenerator<T, void, undefined> {
    for (;;) {
      while (unread.length > 0) {
        const item = unread.shift() as T;
        size -= sizeOf(item);
        changed();
        yield item;
      }
      if (!end) await change.promise;
      else if ('error' in end) throw end.error;
      else return;
    }
  }

  const finish = (how: typeof end) => {
    end = how;
    changed();
  };
  void fill().then(
    () => finish({}),
    (error: unknown) => finish({ error }),
  );
  return read();
}
