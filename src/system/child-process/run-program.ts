/** Runs a program: each is ended by its signal or timeout, and all of them when the service exits. */
import type { Readable } from 'node:stream';
import type { ProgramCall, ProgramExit } from '../../../engines/contract/index.ts';
import { exitOf, killGroup, type NamedCall, readLines, spawnProgram, tail } from './child.ts';

export interface StartedProgram {
  /** Output stream of the program. It must be read to its end. */
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly exit: Promise<Omit<ProgramExit, 'stdout'>>;
  readonly kill: () => void;
}

/**
 * Starts a program without a shell. Throws if it is not found, `overloaded` when out of file descriptors, and the signal's
 * reason if already aborted.
 */
export function startProgram(program: string, args: readonly string[], options: NamedCall): StartedProgram {
  const child = spawnProgram(program, args, options, 'ignore');
  const { stdout, stderr } = child;
  return { stdout, stderr, exit: exitOf(child, program, options), kill: () => killGroup(child) };
}

/** Runs a program to its end and keeps the last 64 KB of its output. */
export async function runProgram(program: string, args: readonly string[], options: ProgramCall): Promise<ProgramExit> {
  const { stdout, stderr, exit, kill } = startProgram(program, args, options);
  const output = tail(stdout);
  let failure: { readonly error: unknown } | undefined;
  const { onLine } = options;
  if (onLine) {
    const fail = (error: unknown) => {
      failure ??= { error };
      kill();
    };
    for (const stream of [stdout, stderr]) readLines(stream, (line) => failure ?? onLine(line), fail);
  }
  const ended = await exit;
  if (failure) throw failure.error;
  return { ...ended, stdout: output() };
}
