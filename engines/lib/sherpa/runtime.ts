/** Finds and checks the package sherpa-onnx-node, which is loaded in separate processes (program.ts). */
import { existsSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { EngineContext } from '../../contract/index.ts';
import { findRuntime as findInstalled, openRuntime, type Runtime } from '../host-program/packages.ts';
import { scriptCommand } from '../host-program/script-command.ts';
import { parseObject, textOf } from '../../../lib/json.ts';

const packageName = 'sherpa-onnx-node';

const platform = `${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;

/**
 * The library and its binary, as `npm run setup` installs them. Exactly this version: 2.0.0 removes functions that
 * Piper voices need. Undefined if upstream has no binary for this platform.
 */
export function runtimeOf(context: Pick<EngineContext, 'dataDir'>): Runtime | undefined {
  const manifest = fileURLToPath(new URL(`./packages/${platform}`, import.meta.url));
  if (!existsSync(manifest)) return undefined;
  const files = [`${packageName}/package.json`, `sherpa-onnx-${platform}/sherpa-onnx.node`];
  return openRuntime({ manifest, files }, context);
}

/**
 * Returns the directory of the package. If the settings name a directory, searches only below it; otherwise next to
 * this package, and then where the service installs `place`.
 */
export function findRuntime(
  place: string | Runtime | undefined,
  { resolve }: Pick<EngineContext, 'resolve'>,
): string | undefined {
  if (typeof place === 'string') return packageIn(resolve(place));
  const installed = () => place && findInstalled(place);
  return besideUs() ?? packageIn(installed());
}

function packageIn(directory: string | undefined): string | undefined {
  if (directory === undefined) return undefined;
  const place = join(directory, 'node_modules', packageName);
  return existsSync(join(place, 'package.json')) ? place : undefined;
}

function besideUs(): string | undefined {
  try {
    return dirname(createRequire(import.meta.url).resolve(`${packageName}/package.json`));
  } catch {
    return undefined; // not installed
  }
}

/** Returns a stamp that changes when the binary is replaced, or why there is no binary: it is an optional package. */
export function findBinary(library: string): { readonly stamp: string } | { readonly lacking: string } {
  try {
    const require = createRequire(join(library, 'package.json'));
    const { ino, mtimeMs, size } = statSync(require.resolve(`sherpa-onnx-${platform}/sherpa-onnx.node`));
    return { stamp: `${ino} ${mtimeMs} ${size}` };
  } catch {
    const lacking = `${library} has no binary for ${platform}: the package sherpa-onnx-${platform} is not installed`;
    return { lacking };
  }
}

const checkMs = 20_000;

/** Loads the library in a separate process. Resolves with its version, or the reason why it cannot be loaded. */
export async function checkRuntime(
  library: string,
  { run }: Pick<EngineContext, 'run'>,
): Promise<{ readonly version: string } | { readonly problem: string }> {
  const { program, args, env } = scriptCommand('check', import.meta.url, library);
  const call = { signal: new AbortController().signal, timeoutMs: checkMs, cwd: '/', env };
  const { stdout, code, signal } = await run(program, args, call);
  const answer = parseObject(stdout);
  const version = textOf(answer?.version);
  if (version !== '') return { version };
  return { problem: textOf(answer?.error) || `it ended with ${code ?? signal ?? 'nothing'}` };
}
