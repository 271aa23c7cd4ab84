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
  const leave = () => controller.abort(signal.reason);
  const timer = setTimeout(() => controller.abort(late()), ms);
  signal.addEventListener('abort', leave, { once: true });
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', leave);
  }
}
