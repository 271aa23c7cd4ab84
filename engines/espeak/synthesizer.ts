/** Finds espeak-ng: the program, or the WASM package behind our script, which takes the same arguments. */
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { EngineContext } from '../contract/index.ts';
import { compileCacheEnv } from '../../lib/compile-cache.ts';
import { findExecutable, isExecutable } from '../../lib/find-executable.ts';

export interface Synthesizer {
  /** Display name. */
  readonly what: string;
  /** The program and its first arguments. */
  readonly command: readonly [string, ...string[]];
  /** Variables added to the minimal environment. */
  readonly env: Readonly<Record<string, string>>;
}

const packageName = '@echogarden/espeak-ng-emscripten';

/** `.ts` in the repository, `.js` in the built package. */
const script = fileURLToPath(new URL(`./wasm-program${extname(import.meta.url)}`, import.meta.url));

/** Order: the program named in the settings, PATH, the package. A named program has no fallback. */
export function findSynthesizer(named: string | undefined, context: EngineContext): Synthesizer | undefined {
  const { env, resolve } = context;
  if (named !== undefined) return isExecutable(resolve(named)) ? program(resolve(named)) : undefined;
  const found = findExecutable('espeak-ng', env.PATH ?? '');
  if (found !== undefined) return program(found);
  if (!isPackageInstalled()) return undefined;
  return { what: packageName, command: [process.execPath, script], env: compileCacheEnv() };
}

function program(path: string): Synthesizer {
  return { what: path, command: [path], env: withoutPulse };
}

/** The program opens PulseAudio even if it plays nothing, which would leave directories in HOME and /tmp. */
const withoutPulse = { PULSE_RUNTIME_PATH: '/dev/null' };

/** Only resolves the package, which is under the GPL and is never loaded into this process. */
function isPackageInstalled(): boolean {
  try {
    createRequire(import.meta.url).resolve(packageName);
    return true;
  } catch {
    return false; // an optional dependency
  }
}
