/** npm packages that are too large to be dependencies: locked, and installed as assets. */
import { hash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { EngineContext, PackagesAsset } from '../../contract/index.ts';
import { errnoOf } from '../../../lib/errors.ts';

/**
 * The package.json in `manifest` has the `name` and `version` of the library. The platform's package is a direct
 * dependency, because npm silently skips an optional one with a wrong digest.
 */
export type RuntimePackages = Pick<PackagesAsset, 'manifest' | 'files'>;

export interface Runtime extends Pick<PackagesAsset, 'kind' | 'name' | 'version' | 'manifest' | 'files' | 'directory'> {
  /** The locked version of each package, by its path (`node_modules/NAME`). */
  readonly locked: Readonly<Record<string, { readonly version?: string }>>;
}

/** Reads the shipped lock. Throws if there is none for this platform. */
export function openRuntime(packages: RuntimePackages, { dataDir }: Pick<EngineContext, 'dataDir'>): Runtime {
  const lock = readFileSync(join(packages.manifest, 'package-lock.json'), 'utf8');
  const manifest = readFileSync(join(packages.manifest, 'package.json'), 'utf8');
  const { name, version } = JSON.parse(manifest) as Pick<Runtime, 'name' | 'version'>;
  const { packages: locked } = JSON.parse(lock) as { readonly packages: Runtime['locked'] };
  const directory = join(dataDir, 'runtimes', `${name}-${version}-${hash('sha256', lock).slice(0, 16)}`);
  return { kind: 'packages', ...packages, name, version, locked, directory };
}

/**
 * Returns the directory with `node_modules`: next to this package, where `import` would find it, or else the directory
 * in which the service installs it. Returns undefined if neither has all files.
 */
export function findRuntime(runtime: Runtime): string | undefined {
  const beside = ancestorsOf(runtime.manifest).filter((path) => isLockedVersion(runtime, path));
  return [...beside, runtime.directory].find((path) =>
    runtime.files.every((file) => existsSync(join(path, 'node_modules', file))),
  );
}

/** Another version in node_modules may belong to another program. */
function isLockedVersion({ files, locked }: Runtime, directory: string): boolean {
  return files.every((file) => {
    const name = file
      .split('/')
      .slice(0, file.startsWith('@') ? 2 : 1)
      .join('/');
    return versionIn(join(directory, 'node_modules', name)) === locked[`node_modules/${name}`]?.version;
  });
}

function versionIn(packagePath: string): string | undefined {
  try {
    const { version } = JSON.parse(readFileSync(join(packagePath, 'package.json'), 'utf8')) as { version?: string };
    return version;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Returns the directory and its parents. */
function ancestorsOf(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [path] : [path, ...ancestorsOf(parent)];
}
