/** The documents as data: every page, and the code blocks in it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const home = resolve(import.meta.dirname, '../../..');

/** Paths from the root of the repository. */
export const pages: readonly string[] = [
  ...['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md', 'examples/README.md'],
  ...readdirSync(join(home, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name))
    .sort(),
];

export function readPage(page: string): string {
  return readFileSync(join(home, page), 'utf8');
}

/** The texts of its blocks in that language, in their order. */
export function blocksOf(page: string, language: string): string[] {
  return [...readPage(page).matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(
    ([, text = '']) => text,
  );
}

/** The first block that begins so. */
export function blockWith(page: string, language: string, beginning: string): string {
  const found = blocksOf(page, language).find((block) => block.startsWith(beginning));
  if (found === undefined) throw new Error(`${page} has no ${language} block that begins with ${beginning}`);
  return found;
}
