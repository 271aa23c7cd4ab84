import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

function manifest(path: string) {
  const text = readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
  return JSON.parse(text) as Readonly<Record<'dependencies' | 'devDependencies', Readonly<Record<string, string>>>>;
}

it('the devDependencies have the versions that a fleet runs with', () => {
  const { dependencies } = manifest('src/fleet/packages/package.json');
  expect(manifest('package.json').devDependencies).toMatchObject(dependencies);
  const needed = Object.entries(dependencies).map((nameAndVersion) => nameAndVersion.join('@'));
  expect(readFileSync(new URL('../../src/fleet/redis.ts', import.meta.url), 'utf8')).toContain(needed.join(' '));
});
