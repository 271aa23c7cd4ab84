/** Real processes for tests: started from a piece of source, looked up in /proc, ended with the test. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { startStopwatch } from './stopwatch.ts';

export interface NodeProcess {
  readonly child: ChildProcess;
  /** The first line that it writes to stdout. */
  readonly firstLine: Promise<string>;
  /** Resolves when it has ended. */
  readonly ended: Promise<unknown>;
}

/** Runs a module in a Node of its own; `process.argv[1]` and on are the arguments. It ends with the test. */
export function startNode(source: string, args: readonly string[] = [], before: readonly string[] = []): NodeProcess {
  const [program = '', ...rest] = [...before, process.execPath, '--input-type=module', '-e', source, '--', ...args];
  const child = spawn(program, rest, { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended; // before the test's directory goes, in which it may write
  });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const firstLine = new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', resolve);
    child.once('close', () => reject(new Error(`it ended without a word: ${stderr}`)));
  });
  firstLine.catch(() => {}); // not every process is listened to
  return { child, firstLine, ended };
}

/** The processes, zombies aside, that have this text among their arguments. */
export function processesWith(text: string): string[] {
  return readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, 'latin1').includes(text);
    } catch {
      return false; // it has just ended
    }
  });
}

/**
 * Looks every few milliseconds, later every 20, until it is so, the last time after the deadline. That other programs
 * have kept us from looking does not count.
 */
export async function until(what: string, isSo: () => boolean | Promise<boolean>, deadlineMs = 10_000): Promise<void> {
  const elapsedMs = startStopwatch();
  for (let pauseMs = 5; ; pauseMs = Math.min(pauseMs + 1, 20)) {
    const isLast = elapsedMs() > deadlineMs;
    if (await isSo()) return;
    if (isLast) throw new Error(`after ${deadlineMs} ms it is still not so: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/** How long a process has worked (proc(5)), in ticks of 10 ms. */
export function ticksOf(pid: string): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)!.split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

/**
 * Kills each of the programs that works, until `work` is over; returns those. The service replaces the first once, as if it
 * had been killed while it was idle.
 */
export async function killWhileBusy(programs: () => readonly string[], work: Promise<unknown>): Promise<string[]> {
  const killed: string[] = [];
  const state = { isOver: false };
  const end = () => (state.isOver = true);
  work.then(end, end);
  for (;;) {
    const living = () => programs().find((program) => !killed.includes(program));
    await until('there is a program', () => state.isOver || living() !== undefined);
    const program = living();
    if (state.isOver || program === undefined) return killed;
    const ticks = ticksOf(program);
    await until('it is busy', () => ticksOf(program) >= ticks + 5);
    process.kill(Number(program), 'SIGKILL');
    killed.push(program);
  }
}
