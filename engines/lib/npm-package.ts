/**
 * Gets a file or folder of an npm package: downloads only the tarball of a pinned version. No code of the package runs,
 * and no dependency is installed.
 */
import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ToolDirectory } from './tool-directory.ts';

export interface PackagePart {
  readonly name: string;
  readonly version: string;
  /** `sha512-` and the base64 digest of the tarball, as published by the registry. */
  readonly integrity: string;
  /** Path of the file or folder in the tarball. */
  readonly path: string;
}

/** Paths of the programs. */
export interface UnpackTools {
  readonly npm: string;
  readonly tar: string;
}

/**
 * Downloads the package, unpacks the part in the directory, and resolves with the path of the part. npm uses the
 * registry and the proxy from its own settings.
 */
export async function unpackPart(
  { name, version, integrity, path }: PackagePart,
  directory: Pick<ToolDirectory, 'path' | 'run'>,
  { npm, tar }: UnpackTools,
): Promise<string> {
  const quiet = ['--ignore-scripts', '--loglevel=error'];
  await directory.run(npm, ['pack', `${name}@${version}`, ...quiet, `--pack-destination=${directory.path}`]);
  const tarball = join(directory.path, `${name.replace(/^@/, '').replace('/', '-')}-${version}.tgz`);
  const actual = `sha512-${hash('sha512', await readFile(tarball), 'base64')}`;
  if (actual !== integrity) {
    throw new Error(`integrity check failed for ${name} ${version} from npm: got ${actual}, expected ${integrity}`);
  }
  await directory.run(tar, ['-xzf', tarball, '-C', directory.path, path]);
  return join(directory.path, path);
}
