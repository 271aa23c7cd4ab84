/** `--open`: opens the page in the default browser. */
import { spawn } from 'node:child_process';
import type { Logger } from '../../engines/contract/index.ts';
import { findExecutable } from '../../lib/find-executable.ts';

/** Executable programs only, because `start` is a builtin of the Windows shell. */
const openers: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32.exe', 'url.dll,FileProtocolHandler'],
};

/** A failure is only logged, because the terminal also shows the address. */
export function openPage(url: string, log: Logger): void {
  const [name, ...args] = openers[process.platform] ?? ['xdg-open'];
  const program = findExecutable(name);
  if (program === undefined) return log.warn({ url }, `the page was not opened: ${name} is not on PATH`);
  // Detached, because the process may become the browser, which Ctrl-C in this terminal must not end.
  const child = spawn(program, [...args, `${url}/`], { stdio: 'ignore', detached: true });
  const failed = (facts: object) => log.warn({ url, ...facts }, `the page was not opened: ${name} failed`);
  child.once('error', (err) => failed({ err }));
  child.once('exit', (code, signal) => {
    if (code !== 0) failed(signal === null ? { code } : { signal });
  });
  child.unref();
}
