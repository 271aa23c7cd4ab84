import { hash } from 'node:crypto';
import { chmod, mkdtemp, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import type { EngineContext, ProgramExit } from '../contract/index.ts';
import { startTimeout } from '../../lib/abort.ts';
import { isExecutable } from '../../lib/find-executable.ts';
import { acquireLock, isLocked, lockOf } from '../lib/download/lock.ts';
import { toolEnvironment } from '../lib/tool-environment.ts';
import { findToolchain, type Toolchain } from './toolchain.ts';

const deadlineMinutes = 30;
const tailLines = 20;

export interface Build extends Pick<EngineContext, 'dataDir' | 'env' | 'cores' | 'run' | 'log'> {
  readonly signal: AbortSignal;
  /** From 0 to 1. */
  readonly progress: (fraction: number) => void;
  /** Called if another process builds it. */
  readonly onWait?: () => void;
  readonly source?: SourcePackage;
  /** In order: each is installed before the next one is compiled. */
  readonly programs: readonly Program[];
}

/** An npm package that contains the source of whisper.cpp. */
export interface SourcePackage {
  readonly name: string;
  readonly version: string;
  /** `sha512-` and the base64 digest of the tarball, as published by the registry. */
  readonly integrity: string;
  /** Path of the source in the tarball. */
  readonly folder: string;
}

/** whisper.cpp 1.9.1. The package's own JavaScript is neither used nor unpacked. */
const whisperSource: SourcePackage = {
  name: 'nodejs-whisper',
  version: '0.3.1',
  integrity: 'sha512-ceoilUVraRuR5FnNyXpGQT2auAR48Oc3AQBEmkXnVpSn9iN6yVRzQBFCqVTGWbk6Wdi95NhvwXNzFvuR7erLWw==',
  folder: 'package/cpp/whisper.cpp',
};

/** What can be built: whisper.cpp's own program, and ours that keeps a model loaded (host/). */
export type Program = 'whisper-cli' | 'whisper-host';

/** Path of a program that was built on this machine. */
export function builtProgramPath(dataDir: string, program: Program = 'whisper-cli'): string {
  return join(dataDir, 'bin', program);
}

/** Whether some process builds it now. */
export const isBuilding = (dataDir: string): Promise<boolean> => isLocked(lockOf(builtProgramPath(dataDir)));

/**
 * Builds programs for this machine (whisper.cpp compiles with -march=native), but for those that exist. Only one build runs
 * per data directory; concurrent calls wait for it.
 *
 * Takes about 2 minutes on 2 cores; the timeout is 30 minutes. Rejects with an error that names the missing tools or
 * contains the last lines of the failed command, or with the signal's reason. Leaves no process and no temporary file.
 */
export async function buildWhisper(build: Build): Promise<void> {
  const pathOf = (program: Program) => builtProgramPath(build.dataDir, program);
  const late = () => new Error(`building whisper-cli took more than ${deadlineMinutes} minutes`);
  using timeout = startTimeout(deadlineMinutes * 60_000, late, build.signal);
  const { signal } = timeout;
  await using _lock = await acquireLock(lockOf(pathOf('whisper-cli')), {
    signal,
    log: build.log,
    onWait: build.onWait,
  });
  const missing = build.programs.filter((program) => !isExecutable(pathOf(program)));
  if (missing.length === 0) return;
  const tools = findToolchain(build.env.PATH);
  await using workspace = await createWorkspace(build, signal);
  build.progress(0);
  const source = await fetchSource(workspace, tools, build.source ?? whisperSource);
  const compile = await configure(workspace, tools, source, build);
  for (const [index, program] of missing.entries()) {
    // The second one has little left to compile.
    const [from, to] = missing.length === 1 ? [0, 1] : index === 0 ? [0, 0.9] : [0.9, 1];
    const compiled = await compile(program, (fraction) => build.progress(from + fraction * (to - from)));
    // Smoke test: a program that cannot run on this machine fails here, not with the first recording.
    await workspace.run(compiled, ['--help']);
    await install(compiled, pathOf(program));
  }
}

const workspacePrefix = 'whisper-build-';

/** A temporary directory for one build. `run` runs programs in it; disposing of it deletes it. */
interface Workspace extends AsyncDisposable {
  readonly path: string;
  readonly run: (program: string, args: readonly string[], onLine?: (line: string) => void) => Promise<void>;
}

async function createWorkspace({ dataDir, env, log, run }: Build, signal: AbortSignal): Promise<Workspace> {
  await removeLeftovers(dataDir);
  const path = await mkdtemp(join(resolve(dataDir), workspacePrefix));
  const toolEnv = toolEnvironment(env, path);
  return {
    path,
    async run(program, args, onLine) {
      const report = (line: string) => {
        log.debug({ line }, 'building whisper-cli');
        onLine?.(line);
      };
      const timeoutMs = deadlineMinutes * 60_000;
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

/** Removes the directories of builds that were killed. We hold the lock, so none of them is still in use. */
async function removeLeftovers(dataDir: string): Promise<void> {
  for (const name of await readdir(dataDir)) {
    if (name.startsWith(workspacePrefix)) await removeDirectory(join(dataDir, name));
  }
}

function removeDirectory(path: string): Promise<void> {
  return rm(path, { recursive: true, force: true, maxRetries: 3 });
}

/** Returns the directory of the source. */
async function fetchSource({ path, run }: Workspace, { npm, tar }: Toolchain, source: SourcePackage): Promise<string> {
  const { name, version, integrity, folder } = source;
  await run(npm, ['pack', `${name}@${version}`, '--ignore-scripts', '--loglevel=error', `--pack-destination=${path}`]);
  const tarball = join(path, `${name}-${version}.tgz`);
  const actual = `sha512-${hash('sha512', await readFile(tarball), 'base64')}`;
  if (actual !== integrity) {
    throw new Error(`integrity check failed for ${name} ${version} from npm: got ${actual}, expected ${integrity}`);
  }
  await run(tar, ['-xzf', tarball, '-C', path, folder]);
  return join(path, folder);
}

/** Returns a function that compiles a program and resolves with its path. */
async function configure({ path, run }: Workspace, { cmake }: Toolchain, source: string, { cores }: Build) {
  const out = join(path, 'out');
  const options = ['-DCMAKE_BUILD_TYPE=Release', '-DBUILD_SHARED_LIBS=OFF', '-DWHISPER_BUILD_TESTS=OFF'];
  // No compiler cache: sccache would leave a server process running.
  const project = join(import.meta.dirname, 'host');
  await run(cmake, ['-S', project, '-B', out, `-DWHISPER_SOURCE=${source}`, ...options, '-DGGML_CCACHE=OFF']);
  return async (program: Program, progress: (fraction: number) => void): Promise<string> => {
    let done = 0;
    await run(cmake, ['--build', out, '--target', program, '-j', `${cores}`], (line) => {
      const percent = /^\[ *(\d+)%\]/.exec(line)?.[1];
      if (percent === undefined) return;
      // Parallel compilers may report out of order.
      done = Math.max(done, Number(percent) / 100);
      progress(done);
    });
    return join(out, 'bin', program);
  };
}

async function install(compiled: string, program: string): Promise<void> {
  await chmod(compiled, 0o755);
  {
    await using file = await open(compiled, 'r');
    await file.sync();
  }
  await rename(compiled, program);
}
