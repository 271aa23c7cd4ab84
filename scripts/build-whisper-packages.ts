/**
 * Compiles the programs of packages/whisper-linux-x64 or -arm64 into its bin/, from the source that the service itself
 * builds. They run on every processor of that architecture: the CPU variants of ggml are in the same folder, and the
 * best one is loaded at startup. Run this script on Debian 12, so that they also run with glibc 2.35. It takes 15
 * minutes of processor time; compiled files are kept in build/. Requires npm, tar, cmake, make and g++.
 *
 * node scripts/build-whisper-packages.ts [x64|arm64] [CMAKE OPTION, for example for a cross compiler]...
 */
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, join } from 'node:path';
import { unpackPart } from '../engines/lib/npm-package.ts';
import type { ToolDirectory } from '../engines/lib/tool-directory.ts';
import { whisperSource } from '../engines/whisper-cli/source.ts';
import { findToolchain } from '../engines/whisper-cli/toolchain.ts';

const [arch = process.arch, ...more] = process.argv.slice(2);
const home = join(import.meta.dirname, '..');
const folder = join(home, `packages/whisper-linux-${arch}`);
const build = join(folder, 'build');
const bin = join(folder, 'bin');
const tools = findToolchain(process.env.PATH);

function run(program: string, args: readonly string[], stdout: 'inherit' | 'pipe' = 'inherit'): string {
  const ended = spawnSync(program, args, { cwd: build, stdio: ['ignore', stdout, 'inherit'], encoding: 'utf8' });
  if (ended.status !== 0) throw new Error(`${basename(program)} ${args.join(' ')} failed`);
  return ended.stdout;
}

async function unpackSource(): Promise<string> {
  const source = join(build, 'source');
  if (existsSync(source)) return source;
  const runHere: ToolDirectory['run'] = (program, args) => Promise.resolve(void run(program, args));
  const workspace = { path: build, run: runHere };
  const unpacked = await unpackPart(whisperSource, workspace, tools);
  // The gcc of Debian 12 does not support SME, which only ggml's optional KleidiAI uses.
  const list = join(unpacked, 'ggml/src/CMakeLists.txt');
  writeFileSync(list, readFileSync(list, 'utf8').replaceAll(/^ *ggml_add_cpu_backend_variant\(armv9.*\n/gm, ''));
  renameSync(unpacked, source);
  return source;
}

function compile(source: string): void {
  const project = join(home, 'engines/whisper-cli/host');
  const portable = ['BUILD_SHARED_LIBS=ON', 'GGML_BACKEND_DL=ON', 'GGML_CPU_ALL_VARIANTS=ON', 'GGML_NATIVE=OFF'];
  const plain = ['CMAKE_BUILD_TYPE=Release', 'WHISPER_BUILD_TESTS=OFF', 'GGML_CCACHE=OFF', `WHISPER_SOURCE=${source}`];
  const stripped = ['EXE', 'SHARED', 'MODULE'].map((kind) => `CMAKE_${kind}_LINKER_FLAGS=-s`);
  const options = [...portable, ...plain, ...stripped].map((option) => `-D${option}`);
  run(tools.cmake, ['-S', project, '-B', 'out', ...options, ...more]);
  const targets = ['--target', 'whisper-cli', '--target', 'whisper-host'];
  run(tools.cmake, ['--build', 'out', ...targets, '-j', `${availableParallelism()}`]);
}

/** npm packs no symbolic links: each library is renamed to the name under which the others load it. */
function install(): void {
  rmSync(bin, { recursive: true, force: true });
  mkdirSync(bin);
  const built = globSync(['whisper-*', 'libggml-cpu-*.so', 'lib*.so.[0-9]'], { cwd: join(build, 'out/bin') });
  for (const name of built) cpSync(realpathSync(join(build, 'out/bin', name)), join(bin, name));
  const compiler = /^CMAKE_C_COMPILER:\w+=(.*)$/m.exec(readFileSync(join(build, 'out/CMakeCache.txt'), 'utf8'))?.[1];
  const openmp = run(compiler ?? tools['C compiler'], ['-print-file-name=libgomp.so.1'], 'pipe').trim();
  cpSync(realpathSync(openmp), join(bin, 'libgomp.so.1'));
  for (const name of ['LICENSE', 'packages/NOTICE']) cpSync(join(home, name), join(folder, basename(name)));
}

mkdirSync(build, { recursive: true });
compile(await unpackSource());
install();
if (arch === process.arch)
  for (const program of ['whisper-cli', 'whisper-host']) run(join(bin, program), ['--help'], 'pipe');
