import { constants } from 'node:os';

/** Returns a signal that aborts on Ctrl-C and SIGTERM, and sets the exit code that shells expect. */
export function abortOnSignals(): AbortSignal {
  const ended = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      process.exitCode = 128 + constants.signals[signal]; // shell convention
      ended.abort(new Error(`stopped by ${signal}`));
    });
  }
  return ended.signal;
}
