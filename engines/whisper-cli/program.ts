/** Finds the whisper-cli program and its version. */
import { dirname, join } from 'node:path';
import type { EngineContext } from '../contract/index.ts';
import { builtProgramPath } from './build.ts';
import { findExecutable, isExecutable } from '../../lib/find-executable.ts';

/** Order: the settings, WHISPER_CLI, PATH, the program built by `npm run setup`. */
export function findWhisper(named: string | undefined, context: EngineContext): string | undefined {
  const { env, dataDir, resolve } = context;
  const path = named ?? env.WHISPER_CLI;
  if (path !== undefined && path !== '') return isExecutable(resolve(path)) ? resolve(path) : undefined;
  const found = findExecutable('whisper-cli', env.PATH ?? '');
  if (found !== undefined) return found;
  const built = builtProgramPath(dataDir);
  return isExecutable(built) ? built : undefined;
}

/** The program that keeps a model loaded: beside whisper-cli, or built by `npm run setup`. */
export function findHost(whisperCli: string | undefined, dataDir: string): string | undefined {
  const beside = whisperCli === undefined ? [] : [join(dirname(whisperCli), 'whisper-host')];
  return [...beside, builtProgramPath(dataDir, 'whisper-host')].find(isExecutable);
}

const versionTimeoutMs = 5_000;

export async function versionOf(program: string, context: EngineContext): Promise<string> {
  await using directory = await context.temporaryDirectory();
  const signal = AbortSignal.timeout(versionTimeoutMs);
  const call = { signal, timeoutMs: versionTimeoutMs, cwd: directory.path };
  const { stdout } = await context.run(program, ['--version'], call);
  return /version:? *(\S+)/.exec(stdout)?.[1] ?? 'unknown version';
}
