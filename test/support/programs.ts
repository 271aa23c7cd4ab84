/** The real programs that some tests need: where they are, how to run them, and what happens without them. */
import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, test } from 'vitest';

// ----------------------------------------------------------------------------------------------------- finding

/**
 * The program's path: what its environment variable says (WHISPER_CLI for whisper-cli), else the first one on PATH,
 * then in DATA_DIR, then where developers of this repository keep a build of their own. The service looks for
 * whisper-host beside whisper-cli, and so do the tests: another build may be in DATA_DIR.
 */
export function findProgram(name: string): string | undefined {
  const configured = process.env[environmentVariable(name)];
  const candidates = configured ? [configured] : searchPath(name).map((directory) => join(directory, name));
  return candidates.find(isExecutable);
}

export function requireProgram(name: string): string {
  const path = findProgram(name);
  if (!path) throw new Error(howToGet(name));
  return path;
}

function searchPath(name: string): string[] {
  const { PATH = '', DATA_DIR = join(homedir(), '.local/share/parlance') } = process.env;
  const whisperCli = name === 'whisper-host' ? findProgram('whisper-cli') : undefined;
  const first = whisperCli === undefined ? [] : [dirname(whisperCli)];
  return [...first, ...PATH.split(delimiter), join(DATA_DIR, 'bin'), join(homedir(), '.cache/parlance/bin')];
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const environmentVariable = (name: string): string => name.toUpperCase().replaceAll('-', '_');

const howToGet = (name: string): string =>
  `needs ${name}: put it on PATH, or its path into ${environmentVariable(name)}`;

// ----------------------------------------------------------------------------------------------------- testing

/**
 * A `describe` whose tests run real programs, found before `body` is called. Where one is missing the tests are
 * skipped and say why; on CI, where no one would notice, that is a failure.
 */
export function describeWith<Name extends string>(
  names: readonly Name[],
  title: string,
  body: (programs: Readonly<Record<Name, string>>) => void,
): void {
  const missing = names.filter((name) => !findProgram(name));
  describe(title, () => {
    if (missing.length > 0) return standIn(title, missing.map(howToGet).join('; '));
    body(Object.fromEntries(names.map((name) => [name, requireProgram(name)])) as Record<Name, string>);
  });
}

function standIn(title: string, reason: string): void {
  if (!process.env.CI) console.warn(`skipped "${title}": ${reason}`);
  test(reason, ({ skip }) => {
    if (process.env.CI) throw new Error(reason);
    skip(reason);
  });
}

// ----------------------------------------------------------------------------------------------------- running

interface RunOptions {
  /** Given to the program on its standard input, which is empty otherwise. */
  readonly input?: Uint8Array;
  readonly deadlineMs?: number;
}

/** What the program wrote to stdout; rejects with what it wrote to stderr when it fails or outlives its deadline. */
export async function run(program: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  const { input, deadlineMs = 60_000 } = options;
  const running = promisify(execFile)(program, args, { timeout: deadlineMs, killSignal: 'SIGKILL' });
  const { stdin } = running.child;
  // A program that ends before it has read everything breaks the pipe; how it ended says more.
  stdin?.on('error', () => {}).end(input);
  return (await running).stdout;
}
