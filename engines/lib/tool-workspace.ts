/** A temporary directory in which tools such as npm and cmake work. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { EngineContext, ProgramExit } from '../contract/index.ts';
import { toolEnvironment } from './tool-environment.ts';

const tailLines = 20;

/** `run` runs programs in it, and rejects with their last lines; disposing of it deletes it. */
export interface Workspace extends AsyncDisposable {
  readonly path: string;
  readonly run: (program: string, args: readonly string[], onLine?: (line: string) => void) => Promise<void>;
}

export interface WorkspacePlace {
  /** An existing directory. The caller holds a lock: what begins with `prefix` was left by a process that was killed. */
  readonly parent: string;
  readonly prefix: string;
  /** For the log. */
  readonly what: string;
}

interface ToolCall extends Pick<EngineContext, 'env' | 'run' | 'log'> {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

export async function createWorkspace(
  { parent, prefix, what }: WorkspacePlace,
  { env, run, log, signal, timeoutMs }: ToolCall,
): Promise<Workspace> {
  for (const name of await readdir(parent)) if (name.startsWith(prefix)) await removeDirectory(join(parent, name));
  const path = await mkdtemp(join(parent, prefix));
  const toolEnv = toolEnvironment(env, path);
  return {
    path,
    async run(program, args, onLine) {
      const report = (line: string) => {
        log.debug({ line }, what);
        onLine?.(line);
      };
      const exit = await run(program, args, { cwd: path, env: toolEnv, signal, timeoutMs, onLine: report });
      if (exit.code !== 0) throw failure([basename(program), ...args], exit);
    },
    [Symbol.asyncDispose]: () => removeDirectory(path),
  };
}

function failure(command: readonly string[], { code, signal, stdout, stderr }: ProgramExit): Error {
  const ended = code === null ? `was terminated by ${String(signal)}` : `failed with exit code ${code}`;
  const lines = `${stdout}\n${stderr}`.split('\n').filter((line) => line !== '');
  return new Error([`\`${command.join(' ')}\` ${ended}`, ...lines.slice(-tailLines)].join('\n'));
}

function removeDirectory(path: string): Promise<void> {
  return rm(path, { recursive: true, force: true, maxRetries: 3 });
}
