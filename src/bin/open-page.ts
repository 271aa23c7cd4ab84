/** `--open`: the page in the default browser. */
import { spawn } from 'node:child_process';
import type { Logger } from '../../engines/contract/index.ts';
import { findExecutable } from '../../lib/find-executable.ts';

/** Programs, not `start`, which is a word of the Windows shell. */
const openers: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32.exe', 'url.dll,FileProtocolHandler'],
};

/** A failure is one line of the log: the address is on the terminal as well. */
export function openPage(url: string, log: Logger): void {
  const [name, ...args] = openers[process.platform] ?? ['xdg-open'];
  const program = findExecutable(name);
  if (program === undefined) return log.warn({ url }, `the page was not opened: ${name} is not on PATH`);
  // In a session of its own: it may become the browser, which a Ctrl-C here must not end.
  const child = spawn(program, [...args, `${url}/`], { stdio: 'ignore', detached: true });
  const failed = (facts: object) => log.warn({ url, ...facts }, `the page was not opened: ${name} failed`);
  child.once('error', (err) => failed({ err }));
  child.once('exit', (code, signal) => {
    if (code !== 0) failed(signal === null ? { code } : { signal });
  });
  child.unref();
}
