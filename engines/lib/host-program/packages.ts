/** npm packages that are too large for everybody to install: locked, and installed when the operator asks for them. */
import { hash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { EngineContext, PackagesAsset } from '../../contract/index.ts';
import { errnoOf } from '../../../lib/errors.ts';

/**
 * The package.json in `manifest` has the `name` and `version` of the runtime. The platform's package is a direct dependency:
 * npm skips an optional one with a wrong digest in silence.
 */
export type RuntimePackages = Pick<PackagesAsset, 'manifest' | 'files'>;

export interface Runtime extends Pick<PackagesAsset, 'kind' | 'name' | 'version' | 'manifest' | 'files' | 'directory'> {
  /** `node_modules/NAME` and its version, as locked. */
  readonly locked: Readonly<Record<string, { readonly version?: string }>>;
}

/** Reads what is shipped; throws where there is nothing for this platform. */
export function openRuntime(packages: RuntimePackages, { dataDir }: Pick<EngineContext, 'dataDir'>): Runtime {
  const lock = readFileSync(join(packages.manifest, 'package-lock.json'), 'utf8');
  const manifest = readFileSync(join(packages.manifest, 'package.json'), 'utf8');
  const { name, version } = JSON.parse(manifest) as Pick<Runtime, 'name' | 'version'>;
  const { packages: locked } = JSON.parse(lock) as { readonly packages: Runtime['locked'] };
  const directory = join(dataDir, 'runtimes', `${name}-${version}-${hash('sha256', lock).slice(0, 16)}`);
  return { kind: 'packages', ...packages, name, version, locked, directory };
}

/** A directory with `node_modules`: beside us, as `import` would look, else where the service installs it. */
export function findRuntime(runtime: Runtime): string | undefined {
  const beside = ancestorsOf(runtime.manifest).filter((path) => isLockedVersion(runtime, path));
  return [...beside, runtime.directory].find((path) =>
    runtime.files.every((file) => existsSync(join(path, 'node_modules', file))),
  );
}

/** Another version may lie beside us for somebody else. */
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

/** The directory and all above it. */
function ancestorsOf(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [path] : [path, ...ancestorsOf(parent)];
}
