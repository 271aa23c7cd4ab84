/** A test that starts a child process belongs into a `*.process.test.ts` or `*.system.test.ts`: here it fails. */
import { subscribe } from 'node:diagnostics_channel';

subscribe('tracing:child_process.spawn:start', (message) => {
  const { spawnargs } = (message as { process: { spawnargs?: readonly string[] } }).process;
  throw new Error(
    `a child process in a test that is neither *.process.test.ts nor *.system.test.ts: ${String(spawnargs?.join(' '))}`,
  );
});
