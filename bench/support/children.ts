import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { tiedToUs } from '../../test/support/child-service.ts';

export interface Child extends AsyncDisposable {
  readonly pid: number;
  /** Resolves with the first line of output that is not empty. */
  readonly firstLine: Promise<string>;
}

/** Starts a Node.js program in this folder. Disposing of it kills it. */
export function startNode(script: string, ...args: readonly string[]): Child {
  const [program, ...rest] = tiedToUs(process.execPath, script, ...args);
  const child = spawn(program, rest, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.once('close', resolve));
  const firstLine = new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).on('line', (line) => {
      if (line.trim() !== '') resolve(line);
    });
    child.once('close', () => reject(new Error(`${script} ended without a word`)));
  });
  firstLine.catch(() => undefined);
  return {
    pid: child.pid ?? 0,
    firstLine,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
