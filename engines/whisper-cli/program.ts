/** Finds the whisper-cli program and its version. */
import type { EngineContext } from '../contract/index.ts';
import { builtProgramPath } from './build.ts';
import { findProgram, isExecutable } from '../../lib/find-executable.ts';

/** Order: the settings, WHISPER_CLI, PATH, the program built by `npm run setup`. */
export async function findWhisper(named: string | undefined, context: EngineContext): Promise<string | undefined> {
  const { env, dataDir, resolve } = context;
  const path = named ?? env.WHISPER_CLI;
  if (path !== undefined && path !== '') return (await isExecutable(resolve(path))) ? resolve(path) : undefined;
  const found = await findProgram(['whisper-cli'], env.PATH);
  if (found !== undefined) return found;
  const built = builtProgramPath(dataDir);
  return (await isExecutable(built)) ? built : undefined;
}

const versionTimeoutMs = 5_000;

export async function versionOf(program: string, context: EngineContext): Promise<string> {
  await using directory = await context.temporaryDirectory();
  const signal = AbortSignal.timeout(versionTimeoutMs);
  const call = { signal, timeoutMs: versionTimeoutMs, cwd: directory.path };
  const { stdout } = await context.run(program, ['--version'], call);
  return /version:? *(\S+)/.exec(stdout)?.[1] ?? 'unknown version';
}
