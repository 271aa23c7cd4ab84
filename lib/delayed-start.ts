/** Delays the start of a stream, so that an early failure can still be an HTTP status. */

/**
 * Reads ahead until the first event from the provider, for at most `ms`. Resolves with all events, including those already
 * read; throws if the stream fails before.
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
  const iterator = { next: () => readAhead.shift() ?? events.next(), return: () => events.return() };
  return { [Symbol.asyncIterator]: () => iterator };
}
