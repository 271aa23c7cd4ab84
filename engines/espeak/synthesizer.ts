/** What speaks: the espeak-ng program, or the WASM package behind a script of ours that takes the same arguments. */
import { createRequire, getCompileCacheDir } from 'node:module';
import { dirname, extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { EngineContext } from '../contract/index.ts';
import { findExecutable, isExecutable } from '../../lib/find-executable.ts';

export interface Synthesizer {
  /** For people. */
  readonly what: string;
  /** The program and its first arguments. */
  readonly command: readonly [string, ...string[]];
  /** Variables that it needs beside the minimal environment. */
  readonly env: Readonly<Record<string, string>>;
}

const packageName = '@echogarden/espeak-ng-emscripten';

/** `.ts` in the repository, `.js` once it is built. */
const script = fileURLToPath(new URL(`./wasm-program${extname(import.meta.url)}`, import.meta.url));

/** The program that the settings name, else the one on PATH, else the package; undefined when there is none. */
export function findSynthesizer(named: string | undefined, context: EngineContext): Synthesizer | undefined {
  const { env, resolve } = context;
  if (named !== undefined) return isExecutable(resolve(named)) ? program(resolve(named)) : undefined;
  const found = findExecutable('espeak-ng', env.PATH ?? '');
  if (found !== undefined) return program(found);
  if (!isPackageThere()) return undefined;
  return { what: packageName, command: [process.execPath, script], env: compileCache() };
}

function program(path: string): Synthesizer {
  return { what: path, command: [path], env: withoutPulse };
}

/** Even where it plays nothing the program opens PulseAudio, which would leave directories in HOME and in /tmp. */
const withoutPulse = { PULSE_RUNTIME_PATH: '/dev/null' };

/** Only looked up: it is under the GPL, and never loaded into this process. */
function isPackageThere(): boolean {
  try {
    createRequire(import.meta.url).resolve(packageName);
    return true;
  } catch {
    return false; // an optional dependency
  }
}

/** Compiling the package is half of the script's start: where the service keeps what it compiled, the script does too. */
function compileCache(): Synthesizer['env'] {
  const directory = getCompileCacheDir(); // one for this version of Node, in the one that NODE_COMPILE_CACHE names
  return directory === undefined ? {} : { NODE_COMPILE_CACHE: dirname(directory) };
}
