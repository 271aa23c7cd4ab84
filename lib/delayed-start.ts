/** Delays the start of a stream, so that an early failure can still be reported as an HTTP status. */

/**
 * Reads ahead until the first event from the provider, for at most `ms`. Resolves with all events, including those
 * already read; throws if the stream fails first.
 */
export async function delayStart<Event>(
  events: AsyncGenerator<Event, void, undefined>,
  ms: number,
  isFromProvider: (event: Event) => boolean,
): Promise<AsyncIterable<Event>> {
  const readAhead: Promise<IteratorResult<Event, void>>[] = [];
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, ms, undefined);
  });
  try {
    for (;;) {
      const next = events.next();
      readAhead.push(next);
      const result = await Promise.race([next, timeout]);
      if (!result || result.done || isFromProvider(result.value)) break;
    }
  } finally {
    clearTimeout(timer);
  }
  return new ReadAhead(readAhead, events);
}

/** A class instead of closures, which would keep the state of the wait in memory for as long as the stream. */
class ReadAhead<Event> implements AsyncIterableIterator<Event, void> {
  readonly #first: Promise<IteratorResult<Event, void>>[];
  readonly #rest: AsyncGenerator<Event, void, undefined>;

  constructor(first: Promise<IteratorResult<Event, void>>[], rest: AsyncGenerator<Event, void, undefined>) {
    this.#first = first;
    this.#rest = rest;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Event, void>> {
    return this.#first.shift() ?? this.#rest.next();
  }

  return(): Promise<IteratorResult<Event, void>> {
    return this.#rest.return();
  }
}
