import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { cpus } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { EngineContext } from '../contract/index.ts';
import { startTimeout } from '../../lib/abort.ts';
import { messageOf } from '../../lib/errors.ts';
import { isLocked, lockOf } from '../../lib/file-lock.ts';
import { isExecutable } from '../../lib/find-executable.ts';
import { makeDirectory } from '../../lib/make-directory.ts';
import { unpackPart, type PackagePart } from '../lib/npm-package.ts';
import { createToolDirectory, removeToolDirectories, type ToolDirectory } from '../lib/tool-directory.ts';
import { builtProgramPath, type Program } from './program.ts';
import { whisperSource } from './source.ts';
import { findToolchain, type Toolchain } from './toolchain.ts';

const deadlineMinutes = 30;
const prefix = 'whisper-build-';

/** The CMake project of both programs. */
const project = join(import.meta.dirname, 'host');

export interface Build extends Pick<EngineContext, 'dataDir' | 'env' | 'cores' | 'start' | 'log'> {
  readonly signal: AbortSignal;
  /** Called with a fraction from 0 to 1. */
  readonly progress: (fraction: number) => void;
  readonly source?: PackagePart;
  /** The programs to build. Each is installed before the next one is compiled. */
  readonly programs: readonly Program[];
}

/** Removes the files of an interrupted build. Call it when nothing is left to build. */
export async function removeUnfinishedBuild(dataDir: string): Promise<void> {
  if (!isLocked(lockOf(builtProgramPath(dataDir)))) await removeToolDirectories(resolve(dataDir), prefix);
}

/**
 * Builds the missing programs for this machine (whisper.cpp compiles with -march=native). The caller holds the lock of
 * whisper-cli. An interrupted build is resumed with its compiled objects.
 *
 * A build takes 2 minutes on 2 fast cores, and 10 or more on a slow or busy machine; the timeout is 30 minutes. Rejects
 * with an error that names the missing tools or contains the last lines of the failed command, or with the signal's
 * reason. A failed build leaves no process and no files, except that one that was aborted or timed out leaves the files
 * from which the next call resumes.
 */
export async function buildWhisper(build: Build): Promise<void> {
  const pathOf = (program: Program) => builtProgramPath(build.dataDir, program);
  const late = () => new Error(`building whisper-cli took more than ${deadlineMinutes} minutes`);
  using timeout = startTimeout(deadlineMinutes * 60_000, late, build.signal);
  const { signal } = timeout;
  await makeDirectory(dirname(pathOf('whisper-cli')));
  const missing = build.programs.filter((program) => !isExecutable(pathOf(program)));
  if (missing.length === 0) return;
  const tools = findToolchain(build.env.PATH);
  const place = {
    parent: resolve(build.dataDir),
    prefix,
    key: await keyOf(build.source ?? whisperSource),
    what: 'building whisper-cli',
  };
  const open = () => createToolDirectory(place, { ...build, signal, timeoutMs: deadlineMinutes * 60_000 });
  build.progress(0);
  {
    await using directory = await open();
    try {
      return await buildIn(directory, tools, missing, build);
    } catch (error) {
      if (!directory.isResumed || signal.aborted) throw error;
      build.log.warn({ reason: messageOf(error) }, 'cannot resume an interrupted build; starting over');
    }
  }
  await using directory = await open();
  await buildIn(directory, tools, missing, build);
}

/** Compiled objects depend on the sources, on their paths, and on the processor. */
async function keyOf(source: PackagePart): Promise<string> {
  const names = (await readdir(project)).toSorted();
  const contents = await Promise.all(names.map((name) => readFile(join(project, name), 'utf8')));
  const processor = await readFile('/proc/cpuinfo', 'utf8').then(
    (text) => text.match(/^(model name|flags|Features)\s*:.*$/gm)?.slice(0, 2),
    () => cpus()[0]?.model,
  );
  const facts = [source.integrity, project, names, contents, process.arch, processor];
  return hash('sha256', JSON.stringify(facts)).slice(0, 16);
}

async function buildIn(
  directory: ToolDirectory,
  tools: Toolchain,
  missing: readonly Program[],
  build: Build,
): Promise<void> {
  const source = await unpackSource(directory, tools, build.source ?? whisperSource);
  const compile = await configure(directory, tools, source, build);
  for (const [index, program] of missing.entries()) {
    // The second program has little left to compile.
    const [from, to] = missing.length === 1 ? [0, 1] : index === 0 ? [0, 0.9] : [0.9, 1];
    const compiled = await compile(program, (fraction) => build.progress(from + fraction * (to - from)));
    // Smoke test: a program that cannot run on this machine fails here, not with the first recording.
    await directory.run(compiled, ['--help']);
    await install(compiled, builtProgramPath(build.dataDir, program));
  }
}

/** The folder gets its final name only when it is complete. */
async function unpackSource(directory: ToolDirectory, tools: Toolchain, part: PackagePart): Promise<string> {
  const source = join(directory.path, 'source');
  if (!existsSync(source)) await rename(await unpackPart(part, directory, tools), source);
  return source;
}

/** Returns a function that compiles a program and resolves with its path. */
async function configure({ path, run }: ToolDirectory, { cmake }: Toolchain, source: string, { cores }: Build) {
  const out = join(path, 'out');
  const options = ['-DCMAKE_BUILD_TYPE=Release', '-DBUILD_SHARED_LIBS=OFF', '-DWHISPER_BUILD_TESTS=OFF'];
  await mkdir(out, { recursive: true });
  await removeEmptyObjects(out);
  // No compiler cache: sccache would leave a server process running.
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

/** An assembler that is killed leaves an empty object file, which make considers up to date. */
async function removeEmptyObjects(out: string): Promise<void> {
  const names = await readdir(out, { recursive: true });
  for (const path of names.filter((name) => name.endsWith('.o')).map((name) => join(out, name))) {
    if ((await stat(path)).size === 0) await rm(path);
  }
}

async function install(compiled: string, program: string): Promise<void> {
  await chmod(compiled, 0o755);
  {
    await using file = await open(compiled, 'r');
    await file.sync();
  }
  await rename(compiled, program);
}
