/** A part of an npm package: its tarball alone, of a pinned version. Nothing of it runs, and no dependency is installed. */
import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Workspace } from './tool-workspace.ts';

export interface PackagePart {
  readonly name: string;
  readonly version: string;
  /** `sha512-` and the base64 digest of the tarball, as published by the registry. */
  readonly integrity: string;
  /** Path of the file or folder in the tarball. */
  readonly path: string;
}

/** Paths of these programs. */
export interface UnpackTools {
  readonly npm: string;
  readonly tar: string;
}

/** Unpacks it in the workspace, and returns its path. npm keeps the registry and the proxy of its own settings. */
export async function unpackPart(
  { name, version, integrity, path }: PackagePart,
  workspace: Pick<Workspace, 'path' | 'run'>,
  { npm, tar }: UnpackTools,
): Promise<string> {
  const quiet = ['--ignore-scripts', '--loglevel=error'];
  await workspace.run(npm, ['pack', `${name}@${version}`, ...quiet, `--pack-destination=${workspace.path}`]);
  const tarball = join(workspace.path, `${name.replace(/^@/, '').replace('/', '-')}-${version}.tgz`);
  const actual = `sha512-${hash('sha512', await readFile(tarball), 'base64')}`;
  if (actual !== integrity) {
    throw new Error(`integrity check failed for ${name} ${version} from npm: got ${actual}, expected ${integrity}`);
  }
  await workspace.run(tar, ['-xzf', tarball, '-C', workspace.path, path]);
  return join(workspace.path, path);
}
