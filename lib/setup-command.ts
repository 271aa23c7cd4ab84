/** How our commands are typed: as an npm script in a clone, with npx in an installed package (the bare name is another's). */
const isClone = import.meta.url.endsWith('.ts');

export function commandLine(name: string, ...args: readonly string[]): string {
  if (!isClone) return ['npx @parlance/server', name, ...args].join(' ');
  return [name === 'start' ? 'npm start' : `npm run ${name}`, ...(args.length > 0 ? ['--', ...args] : [])].join(' ');
}

/** The command that builds and downloads what is missing. */
export const setupCommand = commandLine('setup');

/** The same for what has to be named. */
export const nameSetup = (id: string): string => commandLine('setup', id);
