/** Finds the library, which runs in a program of its own (host.ts). */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { EngineContext } from '../contract/index.ts';
import { compileCacheEnv } from '../../lib/compile-cache.ts';
import { parseObject, textOf } from '../../lib/json.ts';
import type { HostOptions } from './host.ts';

const packageName = 'sherpa-onnx-node';

/** Exactly this version: 2.0.0 drops what Piper voices need. */
export const runtimeFix = `npm install ${packageName}@1.13.8`;

const platform = `${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;

/** `.ts` in the repository, `.js` in the built package. */
const script = fileURLToPath(new URL(`./host${extname(import.meta.url)}`, import.meta.url));

/** The program, its arguments and variables. */
export function hostCommand(options: HostOptions) {
  return { program: process.execPath, args: [script, JSON.stringify(options)], env: compileCacheEnv() };
}

/** The directory of the package. Order: the option, VOICE_RUNTIME, a package beside us. A named one has no fallback. */
export function findRuntime(named: string | undefined, { env, resolve }: Pick<EngineContext, 'env' | 'resolve'>) {
  const directory = named ?? env.VOICE_RUNTIME ?? '';
  if (directory === '') return besideUs();
  const place = join(resolve(directory), 'node_modules', packageName);
  return existsSync(join(place, 'package.json')) ? place : undefined;
}

function besideUs(): string | undefined {
  try {
    return dirname(createRequire(import.meta.url).resolve(`${packageName}/package.json`));
  } catch {
    return undefined; // not installed
  }
}

/** Why it cannot work, as far as is seen without loading it: the binary is an optional package of its own. */
export function lacks(library: string): string | undefined {
  try {
    createRequire(join(library, 'package.json')).resolve(`sherpa-onnx-${platform}/sherpa-onnx.node`);
    return undefined;
  } catch {
    return `${library} has no binary for ${platform}: the package sherpa-onnx-${platform} is not installed`;
  }
}

const checkMs = 20_000;

/** Loads the library in a program of its own. Returns why it cannot be loaded, or its version. */
export async function checkRuntime(
  library: string,
  { run }: Pick<EngineContext, 'run'>,
): Promise<{ readonly version: string } | { readonly problem: string }> {
  const { program, args, env } = hostCommand({ library });
  const call = { signal: new AbortController().signal, timeoutMs: checkMs, cwd: '/', env };
  const { stdout, code, signal } = await run(program, args, call);
  const answer = parseObject(stdout);
  const version = textOf(answer?.version);
  if (version !== '') return { version };
  return { problem: textOf(answer?.error) || `it ended with ${code ?? signal ?? 'nothing'}` };
}
