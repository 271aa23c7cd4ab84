/** Finds the prebuilt programs in the npm package for this platform (packages/), if it is installed. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { isExecutable } from '../../lib/find-executable.ts';
import { isObject, parseObject, textOf } from '../../lib/json.ts';

/** The program, or why the installed package cannot be used. */
export type Packaged = { readonly program: string } | { readonly problem: string };

export interface PackageOptions {
  /** The package is resolved from this file URL. */
  readonly from: string;
  /** Version of glibc; undefined if the system has another C library. */
  readonly glibc?: string | undefined;
}

const packageName = `@parlance/whisper-${process.platform}-${process.arch}`;

let found: { readonly packaged: Packaged | undefined } | undefined;

/** Undefined if the package is not installed. The result is cached. */
export function packagedWhisper(): Packaged | undefined {
  found ??= { packaged: openPackage({ from: import.meta.url }) };
  return found.packaged;
}

/**
 * The package must have the version of the service, because the protocol between its programs and the service may
 * change with each version.
 */
export function openPackage({ from, glibc = glibcVersion() }: PackageOptions): Packaged | undefined {
  const manifestPath = resolvePackage(`${packageName}/package.json`, from);
  if (manifestPath === undefined) return undefined;
  const manifest = parseObject(readFileSync(manifestPath, 'utf8'));
  if (manifest === undefined) return { problem: `${manifestPath} is not valid` };
  const { version } = createRequire(import.meta.url)('@parlance/server/package.json') as { readonly version: string };
  const name = `${packageName} ${textOf(manifest.version)}`;
  if (manifest.version !== version)
    return { problem: `${name} is not for this version (fix: npm install ${packageName}@${version})` };
  const needed = isObject(manifest.parlance) ? textOf(manifest.parlance.glibc) : '';
  if (isOlder(glibc, needed)) return { problem: `${name} needs glibc ${needed}, this machine has ${glibc ?? 'none'}` };
  const program = join(dirname(manifestPath), 'bin/whisper-cli');
  return isExecutable(program) ? { program } : { problem: `${program} cannot be run` };
}

function resolvePackage(file: string, from: string): string | undefined {
  try {
    return createRequire(from).resolve(file);
  } catch {
    return undefined; // not installed
  }
}

function glibcVersion(): string | undefined {
  const report = process.report as NodeJS.ProcessReport & { excludeNetwork: boolean };
  const { excludeNetwork } = report;
  report.excludeNetwork = true; // the report would look up the host names of open connections
  const { header } = report.getReport() as { readonly header: { readonly glibcVersionRuntime?: string } };
  report.excludeNetwork = excludeNetwork;
  return header.glibcVersionRuntime;
}

/** Compares versions such as 2.35. */
function isOlder(version: string | undefined, needed: string): boolean {
  if (version === undefined) return true;
  return version.localeCompare(needed, 'en', { numeric: true }) < 0;
}
