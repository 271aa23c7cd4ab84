import { findExecutable } from '../../lib/find-executable.ts';
import { installCommand } from '../../lib/setup-command.ts';

/** Build tools. One of `programs` must be on PATH; `debianPackage` provides one. */
const needs = {
  npm: { programs: ['npm'], debianPackage: 'npm' },
  tar: { programs: ['tar'], debianPackage: 'tar' },
  cmake: { programs: ['cmake'], debianPackage: 'cmake' },
  make: { programs: ['gmake', 'make'], debianPackage: 'make' },
  'C compiler': { programs: ['cc', 'gcc', 'clang'], debianPackage: 'g++' },
  'C++ compiler': { programs: ['c++', 'g++', 'clang++'], debianPackage: 'g++' },
} as const;

/** Path of each tool. */
export type Toolchain = Readonly<Record<keyof typeof needs, string>>;

/** Throws an error that lists all missing tools and the command that installs them. */
export function findToolchain(path: string | undefined): Toolchain {
  const { found, lack } = lookFor(path);
  if (lack === undefined) return found as Toolchain;
  throw new Error(`cannot build whisper-cli, missing: ${lack.tools} (fix: ${lack.fix})`);
}

export interface Lack {
  /** Names of the missing tools. */
  readonly tools: string;
  /** The command that installs them. */
  readonly fix: string;
}

/** Undefined if whisper-cli can be built. */
export const lackOfTools = (path: string | undefined): Lack | undefined => lookFor(path).lack;

function lookFor(path = ''): { readonly found: Partial<Toolchain>; readonly lack: Lack | undefined } {
  const found: Partial<Record<string, string>> = {};
  const missing = new Map<string, string>();
  for (const [what, { programs, debianPackage }] of Object.entries(needs)) {
    const program = programs.map((name) => findExecutable(name, path)).find((found) => found !== undefined);
    if (program === undefined) missing.set(what, debianPackage);
    else found[what] = program;
  }
  const fix = installCommand(...new Set(missing.values()));
  return { found, lack: missing.size === 0 ? undefined : { tools: [...missing.keys()].join(', '), fix } };
}
