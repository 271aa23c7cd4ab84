import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { typeErrors } from '../support/type-check.ts';
import { home } from './support/pages.ts';

vi.setConfig({ testTimeout: 120_000 });

const sourcesIn = (folder: string) => readdirSync(join(home, folder)).map((name) => join(folder, name));

/** The `@example` blocks of doc comments, by file and number. */
function examplesOf(path: string): (readonly [string, string])[] {
  const source = readFileSync(join(home, path), 'utf8');
  const blocks = [...source.matchAll(/^ *\* @example\n((?: *\*(?: .*)?\n)*?) *\*\/$/gm)];
  return blocks.map(([, block = ''], index) => [
    `${path.replaceAll('/', '-').replace('.ts', '')}-${index + 1}.ts`,
    block.replaceAll(/^ *\* ?/gm, ''),
  ]);
}

it('the examples in the doc comments of the public types compile', async () => {
  const sources = [
    'src/index.ts',
    'src/service.ts',
    'src/sandbox/index.ts',
    ...sourcesIn('src/client'),
    ...sourcesIn('engines/contract'),
  ];
  const examples = sources.flatMap(examplesOf);
  expect(examples.length).toBeGreaterThan(10);
  expect(await typeErrors(Object.fromEntries(examples))).toEqual([]);
});
