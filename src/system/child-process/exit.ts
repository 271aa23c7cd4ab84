/** Waits for the end of a program, and brings it about at its timeout or its signal's abort. */
import { basename } from 'node:path';
import type { ProgramCall, ProgramExit } from '../../../engines/contract/index.ts';
import { beginSpan, endSpan } from '../../trace.ts';
import { onAbort } from '../../../lib/abort.ts';
import { endAfterExit, tail } from './output.ts';
import { notStarted, type Child } from './spawn.ts';
import { killGroup } from './terminate.ts';

export interface NamedCall extends ProgramCall {
  /** Its name in spans, where the program is only what starts it. */
  readonly name?: string;
}

export async function exitOf(
  child: Child,
  program: string,
  { signal, timeoutMs, name = basename(program) }: NamedCall,
): Promise<Omit<ProgramExit, 'stdout'>> {
  let timedOut = false;
  const span = beginSpan('internal', `run ${name}`, { 'process.executable.name': name });
  const end = () => killGroup(child);
  const deadline = setTimeout(() => {
    timedOut = true;
    end();
  }, timeoutMs);
  const off = onAbort(signal, end);
  child.once('exit', () => [child.stdout, child.stderr].forEach(endAfterExit));
  const stderr = tail(child.stderr);
  try {
    const exit = await new Promise<{ code: number | null; signal: string | null }>((resolve, reject) => {
      child.once('error', (cause) => reject(notStarted(program, cause)));
      child.once('close', (code, killedBy) => resolve({ code, signal: killedBy }));
    });
    signal.throwIfAborted();
    return { ...exit, timedOut, stderr: stderr() };
  } finally {
    clearTimeout(deadline);
    off();
    const { exitCode, signalCode } = child;
    endSpan(
      span,
      exitCode === null ? { 'error.type': signalCode ?? 'not-started' } : { 'process.exit.code': exitCode },
    );
  }
}
