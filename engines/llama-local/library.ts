/**
 * Finds node-llama-cpp on this machine: in the settings, beside this package, or installed by the service. host.ts
 * loads it in its own process.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EngineError, type EngineContext, type Finding, type PackagesAsset } from '../contract/index.ts';
import { nameSetup } from '../../lib/setup-command.ts';
import { cached } from '../lib/cached.ts';
import { findRuntime, openRuntime } from '../lib/host-program/packages.ts';
import { part } from './catalogue.ts';

const packageName = 'node-llama-cpp';
const platform = `${process.platform}-${process.arch}`;
const installedBytes = 88_000_000;

export function openLibrary(named: string | undefined, context: EngineContext) {
  const manifest = fileURLToPath(new URL(`./packages/${platform}`, import.meta.url));
  const binary = `@${packageName}/${platform}/bins/${platform}/llama-addon.node`;
  const packages = { manifest, files: [`${packageName}/package.json`, binary] };
  const runtime = existsSync(manifest) ? openRuntime(packages, context) : undefined;
  const find = cached(search, context.now);

  function search(): { readonly directory: string } | { readonly missing: string } {
    if (named !== undefined) {
      // The named directory may contain a build for a GPU instead of the locked binary.
      const directory = context.resolve(named);
      if (existsSync(join(directory, 'node_modules', packageName, 'package.json'))) return { directory };
      return { missing: `${packageName} not found: ${directory} has no node_modules/${packageName}.` };
    }
    const found = runtime && findRuntime(runtime);
    if (found !== undefined) return { directory: found };
    const fix = runtime
      ? `run \`${nameSetup(part)}\` to install it`
      : `install it, and set the option \`runtime\` to the directory with node_modules/${packageName}`;
    return { missing: `${packageName} not found: ${fix}.` };
  }

  const asset: PackagesAsset | undefined =
    named !== undefined || !runtime
      ? undefined
      : {
          ...runtime,
          ...{
            id: 'llama.cpp',
            title: 'llama.cpp',
            bytes: installedBytes,
            license: 'MIT',
          },
          isReady: () => 'directory' in find(),
          changed: () => find.forget(),
        };

  return {
    /** Returns a sentence about what is missing. Answers from memory. */
    missing(): string | undefined {
      const found = find();
      return 'missing' in found ? found.missing : undefined;
    },
    /** Returns the directory of the package. Throws `model-unavailable`. */
    open(): string {
      const found = find();
      if ('missing' in found) throw new EngineError('model-unavailable', found.missing);
      return join(found.directory, 'node_modules', packageName);
    },
    /** Undefined if the settings name the directory, or if there is no lock for this platform. */
    asset,
    /** Reports nothing if it is missing and the service can install it: the service then reports the asset. */
    inspect(): Finding[] {
      const found = find();
      const what = 'llama.cpp';
      if ('directory' in found) return [{ what, ok: true, detail: found.directory }];
      return asset ? [] : [{ what, ok: false, detail: found.missing }];
    },
  };
}
