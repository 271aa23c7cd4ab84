/**
 * Gives work a signal that aborts with its caller's, and with `late()` after so many milliseconds. (AbortSignal.any
 * and AbortSignal.timeout would keep every finished request in memory until its deadline.)
 */
export async function withDeadline<T>(
  { signal, ms, late }: { readonly signal: AbortSignal; readonly ms: number; readonly late: () => Error },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const controller = new AbortController();
  const unfollow = follow(signal, controller);
  const timer = setTimeout(() => controller.abort(late()), ms);
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    unfollow();
  }
}

/** Aborts the controller with the signal, until the function that it returns is called. */
export function follow(signal: AbortSignal, controller: AbortController): () => void {
  const abort = () => controller.abort(signal.reason);
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  return () => signal.removeEventListener('abort', abort);
}

/** The outcome of the work, or the signal's reason as soon as it aborts, whether or not the work heeds it. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = () => reject(signal.reason as Error);
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}
