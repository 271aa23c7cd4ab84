/** A temporary directory in which tools such as npm and cmake work. */
import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { EngineContext, ProgramExit } from '../contract/index.ts';
import { errnoOf } from '../../lib/errors.ts';
import { toolEnvironment } from './tool-environment.ts';

const tailLines = 20;

/** An interrupted one is not resumed after this time: the tools may have changed. */
const longestMs = 7 * 24 * 3_600_000;

/**
 * `run` runs programs in it, and rejects with their last lines; disposing of it deletes it, unless it has a key and the
 * signal has aborted.
 */
export interface Workspace extends AsyncDisposable {
  readonly path: string;
  /** It has what an interrupted call with the same key left in it. */
  readonly isResumed: boolean;
  readonly run: (program: string, args: readonly string[], onLine?: (line: string) => void) => Promise<void>;
}

export interface WorkspacePlace {
  /** An existing directory. The caller holds a lock: what begins with `prefix` was left by a process that was killed. */
  readonly parent: string;
  readonly prefix: string;
  /** What its contents depend on. With a key, it stays when the signal aborts, and the next call with this key resumes it. */
  readonly key?: string;
  /** For the log. */
  readonly what: string;
}

interface ToolCall extends Pick<EngineContext, 'env' | 'run' | 'log'> {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

export async function createWorkspace(
  { parent, prefix, key, what }: WorkspacePlace,
  { env, run, log, signal, timeoutMs }: ToolCall,
): Promise<Workspace> {
  const kept = key === undefined ? undefined : join(parent, `${prefix}${key}`);
  const isResumed = kept !== undefined && (await isRecent(kept));
  await removeWorkspaces(parent, prefix, isResumed ? kept : undefined);
  const path = kept ?? (await mkdtemp(join(parent, prefix)));
  const temporary = join(path, 'tmp');
  await removeDirectory(temporary); // of killed tools
  await mkdir(temporary, { recursive: true, mode: 0o700 });
  const toolEnv = toolEnvironment(env, temporary);
  return {
    path,
    isResumed,
    async run(program, args, onLine) {
      const report = (line: string) => {
        log.debug({ line }, what);
        onLine?.(line);
      };
      const exit = await run(program, args, { cwd: path, env: toolEnv, signal, timeoutMs, onLine: report });
      if (exit.code !== 0) throw failure([basename(program), ...args], exit);
    },
    async [Symbol.asyncDispose]() {
      if (kept === undefined || !signal.aborted) await removeDirectory(path);
    },
  };
}

/** Removes what interrupted and killed calls left, but for one. The caller knows that none is at work. */
export async function removeWorkspaces(parent: string, prefix: string, except?: string): Promise<void> {
  const names = await readdir(parent).catch((error: unknown) => {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  });
  const found = names.filter((name) => name.startsWith(prefix)).map((name) => join(parent, name));
  for (const path of found) if (path !== except) await removeDirectory(path);
}

async function isRecent(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found !== undefined && Date.now() - found.mtimeMs < longestMs;
}

function failure(command: readonly string[], { code, signal, stdout, stderr }: ProgramExit): Error {
  const ended = code === null ? `was terminated by ${String(signal)}` : `failed with exit code ${code}`;
  const lines = `${stdout}\n${stderr}`.split('\n').filter((line) => line !== '');
  return new Error([`\`${command.join(' ')}\` ${ended}`, ...lines.slice(-tailLines)].join('\n'));
}

function removeDirectory(path: string): Promise<void> {
  return rm(path, { recursive: true, force: true, maxRetries: 3 });
}
