/**
 * Finds node-llama-cpp on this machine: in the directory that the settings name, next to this package, or installed by
 * the service. host.ts loads it in a separate process.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EngineError, type EngineContext, type Finding, type PackagesAsset } from '../contract/index.ts';
import { nameSetup } from '../../lib/setup-command.ts';
import { findRuntime, openRuntime } from '../lib/host-program/packages.ts';
import { part } from './catalog.ts';

const packageName = 'node-llama-cpp';
const platform = `${process.platform}-${process.arch}`;
const installedBytes = 88_000_000;

export function openLibrary(named: string | undefined, context: EngineContext) {
  const manifest = fileURLToPath(new URL(`./packages/${platform}`, import.meta.url));
  const binary = `@${packageName}/${platform}/bins/${platform}/llama-addon.node`;
  const packages = { manifest, files: [`${packageName}/package.json`, binary] };
  const runtime = existsSync(manifest) ? openRuntime(packages, context) : undefined;
  let found = search();

  function search(): { readonly directory: string } | { readonly missing: string } {
    if (named !== undefined) {
      // The named directory may contain a build for a GPU instead of the locked binary.
      const directory = context.resolve(named);
      if (existsSync(join(directory, 'node_modules', packageName, 'package.json'))) return { directory };
      return { missing: `${packageName} not found: ${directory} has no node_modules/${packageName}.` };
    }
    const installed = runtime && findRuntime(runtime);
    if (installed !== undefined) return { directory: installed };
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
          ...{ id: 'llama.cpp', title: 'llama.cpp', bytes: installedBytes, license: 'MIT' },
          isReady: () => 'directory' in found,
        };

  const missing = () => ('missing' in found ? found.missing : undefined);

  return {
    /** Returns what is missing; undefined if nothing is, or if installing the asset would fix it. */
    problem: () => (asset ? undefined : missing()),
    /** Searches for the library again. */
    look: () => void (found = search()),
    /** Returns the directory of the package. Throws `model-unavailable`. */
    open(): string {
      if ('missing' in found) throw new EngineError('model-unavailable', found.missing);
      return join(found.directory, 'node_modules', packageName);
    },
    /** Undefined if the settings name the directory, or if there is no lock for this platform. */
    asset,
    /** Reports nothing if it is missing and the service can install it: the service then reports the asset. */
    inspect(): Finding[] {
      const what = 'llama.cpp';
      if ('directory' in found) return [{ what, ok: true, detail: found.directory }];
      return asset ? [] : [{ what, ok: false, detail: found.missing }];
    },
  };
}
