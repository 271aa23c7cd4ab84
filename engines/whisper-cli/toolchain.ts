import { findExecutable } from '../../lib/find-executable.ts';

/** What a build needs on the PATH: any of these programs, and the Debian package that has one. */
const needs = {
  npm: { programs: ['npm'], debianPackage: 'npm' },
  tar: { programs: ['tar'], debianPackage: 'tar' },
  cmake: { programs: ['cmake'], debianPackage: 'cmake' },
  make: { programs: ['gmake', 'make'], debianPackage: 'make' },
  'C compiler': { programs: ['cc', 'gcc', 'clang'], debianPackage: 'g++' },
  'C++ compiler': { programs: ['c++', 'g++', 'clang++'], debianPackage: 'g++' },
} as const;

/** The path of each. */
export type Toolchain = Readonly<Record<keyof typeof needs, string>>;

/** Throws an error that names all that is missing and the command that installs it. */
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
  throw new Error(`whisper-cli cannot be built here for want of: ${[...missing.keys()].join(', ')} (${command})`);
}

const passedOn = /^(PATH|HOME|NODE_EXTRA_CA_CERTS|(https?_|no_|all_)proxy|npm_config_.*)$/i;

/** What the tools get of our environment: enough to find each other and the registry, and none of our keys. */
export function toolEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  temporaryDirectory: string,
): Record<string, string> {
  const passed = Object.entries(env).filter(([name, value]) => passedOn.test(name) && value !== undefined);
  // Compilers that are killed leave their temporary files behind: they go with this directory.
  return { ...(Object.fromEntries(passed) as Record<string, string>), TMPDIR: temporaryDirectory };
}
