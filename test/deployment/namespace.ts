/** A network namespace that has loopback only: whoever runs in it reaches only what runs in it, too. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { tiedToUs } from '../support/child-service.ts';
import { requireProgram } from '../support/programs.ts';

export interface Namespace extends AsyncDisposable {
  /** Put before a command line, it runs the command in there; the pid stays the command's. */
  readonly enter: readonly [string, ...string[]];
  /** Starts a program that ends with the namespace, and resolves with its lines so far once there is one. */
  start(program: string, ...args: string[]): Promise<readonly string[]>;
}

export async function openNamespace(): Promise<Namespace> {
  const resources = new AsyncDisposableStack();
  const start = async (...commandLine: [string, ...string[]]) => {
    const [program, ...args] = tiedToUs(...commandLine);
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'ignore'] });
    const exit = once(child, 'exit');
    resources.defer(async () => {
      child.kill('SIGKILL');
      await exit;
    });
    const lines: string[] = [];
    const output = createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
    await Promise.race([once(output, 'line'), exit]);
    if (lines.length === 0) throw new Error(`${commandLine.join(' ')} ended without a word`);
    return { pid: String(child.pid), lines };
  };
  const lasting = 'ip link set lo up && echo up && exec sleep 100000';
  const { pid } = await start(requireProgram('unshare'), '--net', '/bin/sh', '-c', lasting);
  const enter = [requireProgram('nsenter'), '--net', '--target', pid, '--'] as [string, ...string[]];
  return {
    enter,
    start: async (program, ...args) => (await start(...enter, program, ...args)).lines,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}
