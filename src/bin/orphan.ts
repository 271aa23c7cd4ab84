/** A service that npm has started ends with it. */

const lookEveryMs = 500;

/**
 * Calls `end` once the process that started this one is gone. `npx` runs a shell between, and a signal ends both of them
 * without reaching us. Only under npm: systemd and containers signal the service itself, and a service may be put into the
 * background by a shell that exits.
 */
export function whenOrphaned(env: NodeJS.ProcessEnv, end: () => void): void {
  if (env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    end();
  }, lookEveryMs).unref();
}
