/** Finds whisper-cli and its version, and whisper-host. */
import { dirname, join } from 'node:path';
import type { EngineContext, Finding } from '../contract/index.ts';
import { findExecutable, isExecutable, whyNotExecutable } from '../../lib/find-executable.ts';
import { packagedWhisper } from './packaged.ts';

/** The programs that can be built: whisper.cpp's own, and whisper-host, which keeps a model loaded (host/). */
export type Program = 'whisper-cli' | 'whisper-host';

/** Path of a program that was built on this machine. */
export function builtProgramPath(dataDir: string, program: Program = 'whisper-cli'): string {
  return join(dataDir, 'bin', program);
}

export interface FoundProgram {
  readonly path: string;
  /** Shown by the doctor, such as "from PATH". */
  readonly source: string;
}

/**
 * Searches in this order: the settings, WHISPER_CLI, the package for this platform, PATH, and the program built by
 * `npm run setup`.
 */
export function findWhisper(named: string | undefined, context: EngineContext): FoundProgram | undefined {
  const { env, dataDir } = context;
  const program = namedProgram(named, context);
  if (program) {
    const source = named === undefined ? 'from WHISPER_CLI' : 'from the settings';
    return isExecutable(program.path) ? { path: program.path, source } : undefined;
  }
  const packaged = packagedWhisper();
  if (packaged && 'program' in packaged) return { path: packaged.program, source: 'from its package' };
  const found = findExecutable('whisper-cli', env.PATH ?? '');
  if (found !== undefined) return { path: found, source: 'from PATH' };
  const built = builtProgramPath(dataDir);
  return isExecutable(built) ? { path: built, source: 'built on this machine' } : undefined;
}

/**
 * Returns the program that the settings or WHISPER_CLI name, for which there is no fallback; undefined if they name
 * none.
 */
export function namedProgram(option: string | undefined, { env, resolve }: EngineContext) {
  const path = option ?? env.WHISPER_CLI;
  if (path === undefined || path === '') return undefined;
  return { path: resolve(path), setting: option === undefined ? 'WHISPER_CLI' : 'program' };
}

/** Returns a finding if the program that the settings name cannot be used. */
export function inspectNamedProgram(option: string | undefined, context: EngineContext): Finding | undefined {
  const named = namedProgram(option, context);
  if (named === undefined) return undefined;
  const { path, setting } = named;
  const problem = whyNotExecutable(path);
  if (problem === undefined) return undefined;
  const fix = 'set it to the path of whisper-cli, or remove it';
  return { what: 'whisper-cli', ok: false, detail: `${setting}: ${problem}`, fix };
}

/** Finds whisper-host: next to whisper-cli, or built by `npm run setup`. */
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
