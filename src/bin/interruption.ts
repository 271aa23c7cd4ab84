import { constants } from 'node:os';

/** Aborted by Ctrl-C or SIGTERM; the command then exits as a shell expects. */
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
