/** Runs a program with input and streams its output. */
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { RunningProgram, StreamingCall } from '../../../engines/contract/index.ts';
import { onAbort, reasonOf } from '../../../lib/abort.ts';
import { ignore } from '../../../lib/errors.ts';
import { type Child, exitOf, killGroup, spawnProgram } from './child.ts';

/** Implements `start` of an engine's context. Throws the errors of `startProgram`. */
export function streamProgram(program: string, args: readonly string[], options: StreamingCall): RunningProgram {
  const { input, signal } = options;
  const child = spawnProgram(program, args, options, 'pipe');
  const fail = (error: Error) => {
    child.stdout.destroy(error);
    killGroup(child);
  };
  // Without this listener, Node.js discards the output of a program that exits before it is read.
  child.stdout.on('error', ignore).on('readable', ignore); // the exit is reported
  child.once('exit', (_code, killedBy) => {
    if (killedBy !== null) child.stdout.destroy(signal.aborted ? reasonOf(signal) : endedBy(killedBy));
  });
  // After the program's own exit, unread output would keep the pipe open and prevent the child from closing.
  const off = onAbort(signal, (reason) => {
    if (child.exitCode === null) child.once('exit', () => child.stdout.destroy(reason as Error));
    else child.stdout.destroy(reason as Error);
  });
  child.once('close', off);
  if (child.stdin) feed(child.stdin, input, fail);
  const exit = exitOf(child, program, options).then((ended) => ({ ...ended, stdout: '' }));
  exit.catch(ignore); // readers of the output may ignore the exit
  return { output: readOutput(child, exit), exit };
}

/** Ignores EPIPE from a program that exits before reading all its input, because the exit is more informative. */
function feed(stdin: Writable, input: StreamingCall['input'], fail: (error: Error) => void): void {
  const source = typeof input === 'string' ? [input] : reported(input, fail);
  pipeline(source, stdin).catch(ignore); // the exit is reported
}

async function* reported(input: AsyncIterable<Uint8Array>, fail: (error: Error) => void): AsyncGenerator<Uint8Array> {
  try {
    yield* input;
  } catch (error) {
    fail(error as Error);
    throw error;
  }
}

async function* readOutput(child: Child, exit: RunningProgram['exit']): AsyncGenerator<Uint8Array> {
  let whole = false;
  try {
    yield* child.stdout as AsyncIterable<Buffer>;
    whole = true;
  } finally {
    if (!whole) killGroup(child);
  }
  // EOF may arrive before the exit, and looks the same for a killed program.
  const { signal } = await exit;
  if (signal !== null) throw endedBy(signal);
}

function endedBy(signal: string): Error {
  return new Error(`the program was killed by ${signal}`);
}
