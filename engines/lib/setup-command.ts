/** What a person types to have prepared what is missing: an npm script in the repository, our command where it is installed. */
export const setupCommand = import.meta.url.endsWith('.ts') ? 'npm run setup' : 'npx parlance setup';
