/** A temporary directory in which tools such as npm and cmake work. */
import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { constants } from 'node:os';
import { basename, join } from 'node:path';
import type { EngineContext, ProgramExit } from '../contract/index.ts';
import { errnoOf } from '../../lib/errors.ts';
import { LineSplitter } from '../../lib/json-lines.ts';
import { toolEnvironment } from '../../lib/tool-environment.ts';

const tailLines = 20;
const maxLineLength = 1_048_576;

/**
 * Runs a tool. When stdin closes, the shell kills the tool and all its children. This also covers the death of this
 * process, which frees the lock of the target.
 */
const killOnStdinClose =
  'exec 3<&0; "$@" </dev/null & tool=$!; (read -r _ <&3; kill -KILL 0) >/dev/null 2>&1 & wait $tool';

/** An interrupted build is not resumed after this time, because the tools may have changed. */
const maxMs = 7 * 24 * 3_600_000;

/**
 * `run` runs a program in the directory, and rejects with the last lines of output on failure. Disposal deletes the
 * directory, unless it has a key and the signal has aborted.
 */
export interface ToolDirectory extends AsyncDisposable {
  readonly path: string;
  /** True if it contains the files of an interrupted call with the same key. */
  readonly isResumed: boolean;
  readonly run: (program: string, args: readonly string[], onLine?: (line: string) => void) => Promise<void>;
}

export interface ToolDirectoryPlace {
  /**
   * An existing directory. The caller holds a lock, so entries that begin with `prefix` are left over from earlier
   * calls.
   */
  readonly parent: string;
  readonly prefix: string;
  /**
   * Identifies the contents. With a key, the directory is kept when the signal aborts, and the next call with this key
   * resumes it.
   */
  readonly key?: string;
  /** Name of the work, for the log. */
  readonly what: string;
}

interface ToolCall extends Pick<EngineContext, 'env' | 'start' | 'log'> {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

export async function createToolDirectory(
  { parent, prefix, key, what }: ToolDirectoryPlace,
  { env, start, log, signal, timeoutMs }: ToolCall,
): Promise<ToolDirectory> {
  const kept = key === undefined ? undefined : join(parent, `${prefix}${key}`);
  const isResumed = kept !== undefined && (await isRecent(kept));
  await removeToolDirectories(parent, prefix, isResumed ? kept : undefined);
  const path = kept ?? (await mkdtemp(join(parent, prefix)));
  const temporary = join(path, 'tmp');
  await removeDirectory(temporary); // files of killed tools
  await mkdir(temporary, { recursive: true, mode: 0o700 });
  const toolEnv = toolEnvironment(env, temporary);
  return {
    path,
    isResumed,
    async run(program, args, onLine) {
      const over = Promise.withResolvers<undefined>();
      async function* input() {
        yield Buffer.alloc(0);
        await over.promise;
      }
      const call = { cwd: path, env: toolEnv, signal, timeoutMs, input: input() };
      const lines = new LineSplitter(maxLineLength);
      let last: readonly string[] = [];
      try {
        const { output, exit } = start('/bin/sh', ['-c', killOnStdinClose, 'sh', program, ...args], call);
        for await (const chunk of output) {
          for (const line of lines.push(chunk)) {
            log.debug({ line }, what);
            last = [...last, line].slice(-tailLines);
            onLine?.(line);
          }
        }
        const ended = await exit;
        if (ended.code !== 0) throw failure([basename(program), ...args], { ...ended, stdout: last.join('\n') });
      } finally {
        over.resolve(undefined);
      }
    },
    async [Symbol.asyncDispose]() {
      if (kept === undefined || !signal.aborted) await removeDirectory(path);
    },
  };
}

/** Removes the directories of interrupted and killed calls except one. The caller has checked that none is in use. */
export async function removeToolDirectories(parent: string, prefix: string, except?: string): Promise<void> {
  const names = await readdir(parent).catch((error: unknown) => {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  });
  const found = names.filter((name) => name.startsWith(prefix)).map((name) => join(parent, name));
  for (const path of found) if (path !== except) await removeDirectory(path);
}

async function isRecent(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found !== undefined && Date.now() - found.mtimeMs < maxMs;
}

function failure(command: readonly string[], { code, signal, stdout, stderr }: ProgramExit): Error {
  const killedBy = signal ?? signalOf(code);
  const ended = killedBy === undefined ? `failed with exit code ${code}` : `was terminated by ${killedBy}`;
  const lines = `${stdout}\n${stderr}`.split('\n').filter((line) => line !== '');
  return new Error([`\`${command.join(' ')}\` ${ended}`, ...lines.slice(-tailLines)].join('\n'));
}

/** Shells report the signal that killed a program as an exit code above 128. */
function signalOf(code: number | null): string | undefined {
  return Object.entries(constants.signals).find(([, number]) => 128 + number === code)?.[0];
}

function removeDirectory(path: string): Promise<void> {
  return rm(path, { recursive: true, force: true, maxRetries: 3 });
}
