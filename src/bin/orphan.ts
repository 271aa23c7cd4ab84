/** Ends a service started by npm when npm ends. */

const pollMs = 500;

/**
 * Calls `end` when the process that started this one has ended. `npx` runs a shell in between, and a signal ends both
 * of them without reaching this process. Applies only under npm: systemd and containers signal the service itself, and
 * a service may intentionally keep running after its shell exits.
 */
export function whenOrphaned(env: NodeJS.ProcessEnv, end: () => void): void {
  if (env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    end();
  }, pollMs).unref();
}
