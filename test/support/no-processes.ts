/** A test that starts a child process belongs into a `*.system.test.ts`: here it fails. */
import { subscribe } from 'node:diagnostics_channel';

subscribe('tracing:child_process.spawn:start', (message) => {
  const { spawnargs } = (message as { process: { spawnargs?: readonly string[] } }).process;
  throw new Error(`a child process in a test that is not *.system.test.ts: ${String(spawnargs?.join(' '))}`);
});
