/** A stream whose first failure can still be an HTTP status. */
import type { ChatEvent } from './events.ts';

/**
 * Reads on until the provider has shown a sign of life, for at most `ms`, and resolves with all of the events: those
 * read and those to come. Throws what fails before.
 */
export async function holdBack(
  events: AsyncGenerator<ChatEvent, void, undefined>,
  ms: number,
): Promise<AsyncIterable<ChatEvent>> {
  const asked: Promise<IteratorResult<ChatEvent, void>>[] = [];
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, ms, undefined);
  });
  try {
    for (;;) {
      const next = events.next();
      asked.push(next);
      const read = await Promise.race([next, late]);
      if (!read || read.done || isFromProvider(read.value)) break;
    }
  } finally {
    clearTimeout(timer);
  }
  const iterator = { next: () => asked.shift() ?? events.next(), return: () => events.return() };
  return { [Symbol.asyncIterator]: () => iterator };
}

/** The first events say only that the run has begun. */
function isFromProvider(event: ChatEvent): boolean {
  return event.type !== 'chat.started' && !(event.type === 'step.started' && event.step === 0);
}
