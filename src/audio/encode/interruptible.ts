/** The same items, but an abort throws the signal's reason at once, whatever the source is waiting for. */
export async function* interruptible<T>(source: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  signal.throwIfAborted();
  const { promise: interrupted, reject } = Promise.withResolvers<never>();
  const interrupt = () => reject(signal.reason as Error);
  interrupted.catch(ignore);
  signal.addEventListener('abort', interrupt, { once: true });
  const iterator = source[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await Promise.race([iterator.next(), interrupted]);
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    signal.removeEventListener('abort', interrupt);
    // Not waited for: it may hang in what the signal has yet to end. After the source's own end it does nothing.
    iterator.return?.().then(ignore, ignore);
  }
}

function ignore(): void {
  // Whoever reads has been told already.
}
