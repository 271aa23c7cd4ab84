/**
 * Commands as the operator types them: npm scripts in a clone, npx in an installed package (the bare package name is
 * taken).
 */
const isClone = import.meta.url.endsWith('.ts');

export function commandLine(name: string, ...args: readonly string[]): string {
  if (!isClone) return ['npx @parlance/server', name, ...args].join(' ');
  return [name === 'start' ? 'npm start' : `npm run ${name}`, ...(args.length > 0 ? ['--', ...args] : [])].join(' ');
}

/** The command that installs system packages, given their Debian names. */
export function installCommand(...packages: readonly string[]): string {
  if (process.platform !== 'darwin') return ['apt-get install', ...packages].join(' ');
  const formulas: Readonly<Record<string, string>> = { 'g++': 'gcc', npm: 'node', tar: 'gnu-tar' };
  return ['brew install', ...packages.map((name) => formulas[name] ?? name)].join(' ');
}

/** The command that creates an API key. */
export const newKeyCommand = commandLine('key', 'new', 'NAME');

/** The command that installs missing assets. */
export const setupCommand = commandLine('setup');

/** The command that installs the named group. */
export const nameSetup = (id: string): string => commandLine('setup', id);
