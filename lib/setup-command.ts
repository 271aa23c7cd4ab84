/** The command that builds and downloads what is missing: an npm script in a clone, our command in an installed package. */
export const setupCommand = import.meta.url.endsWith('.ts') ? 'npm run setup' : 'npx parlance setup';

/** The same for what has to be named. */
export const nameSetup = (id: string): string =>
  setupCommand.startsWith('npm ') ? `${setupCommand} -- ${id}` : `${setupCommand} ${id}`;
