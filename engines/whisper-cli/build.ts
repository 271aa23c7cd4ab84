import { chmod, open, rename } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { EngineContext } from '../contract/index.ts';
import { startTimeout } from '../../lib/abort.ts';
import { isExecutable } from '../../lib/find-executable.ts';
import { acquireLock, isLocked, lockOf } from '../lib/download/lock.ts';
import { unpackPart, type PackagePart } from '../lib/npm-package.ts';
import { createWorkspace, type Workspace } from '../lib/tool-workspace.ts';
import { findToolchain, type Toolchain } from './toolchain.ts';

const deadlineMinutes = 30;

export interface Build extends Pick<EngineContext, 'dataDir' | 'env' | 'cores' | 'run' | 'log'> {
  readonly signal: AbortSignal;
  /** From 0 to 1. */
  readonly progress: (fraction: number) => void;
  /** Called if another process builds it. */
  readonly onWait?: () => void;
  readonly source?: PackagePart;
  /** In order: each is installed before the next one is compiled. */
  readonly programs: readonly Program[];
}

/** whisper.cpp 1.9.1. The package's own JavaScript is neither used nor unpacked. */
const whisperSource: PackagePart = {
  name: 'nodejs-whisper',
  version: '0.3.1',
  integrity: 'sha512-ceoilUVraRuR5FnNyXpGQT2auAR48Oc3AQBEmkXnVpSn9iN6yVRzQBFCqVTGWbk6Wdi95NhvwXNzFvuR7erLWw==',
  path: 'package/cpp/whisper.cpp',
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
  await using workspace = await openWorkspace(build, signal);
  build.progress(0);
  const source = await unpackPart(build.source ?? whisperSource, workspace, tools);
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

const openWorkspace = ({ dataDir, ...build }: Build, signal: AbortSignal): Promise<Workspace> =>
  createWorkspace(
    { parent: resolve(dataDir), prefix: 'whisper-build-', what: 'building whisper-cli' },
    { ...build, signal, timeoutMs: deadlineMinutes * 60_000 },
  );

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
