import { findExecutable } from '../../lib/find-executable.ts';

/** Build tools: one of these programs must be on PATH; `debianPackage` provides one. */
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
  const found: Partial<Record<string, string>> = {};
  const missing = new Map<string, string>();
  for (const [what, { programs, debianPackage }] of Object.entries(needs)) {
    const program = programs.map((name) => findExecutable(name, path ?? '')).find((found) => found !== undefined);
    if (program === undefined) missing.set(what, debianPackage);
    else found[what] = program;
  }
  if (missing.size === 0) return found as Toolchain;
  const command = `apt-get install ${[...new Set(missing.values())].join(' ')}`;
  throw new Error(`cannot build whisper-cli, missing: ${[...missing.keys()].join(', ')} (fix: ${command})`);
}
