import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it, vi } from 'vitest';
import { typeErrors } from '../support/type-check.ts';

vi.setConfig({ testTimeout: 120_000 }); // a compiler takes as long as the machine lets it

const home = resolve(import.meta.dirname, '../..');
const fixture = readFileSync(join(import.meta.dirname, 'mistakes.ts'), 'utf8');
const expectation = /^ *\/\/ @ts-expect-error /;

/** The lines, counted from 1, that the compiler refuses when the fixture reads like this. */
async function refusedLines(source: string): Promise<number[]> {
  const errors = await typeErrors({ 'fixture.ts': source.replaceAll(`'../../`, `'${home}/`) });
  return errors.map((error) => {
    const [, line] = /^(?:.*\/)?fixture\.ts\((\d+),/.exec(error) ?? [];
    if (line === undefined) throw new Error(`the compiler stumbled over something else: ${error}`);
    return Number(line);
  });
}

const lines = fixture.split('\n');
const mistakes = lines.flatMap((line, index) => (expectation.test(line) ? [index + 2] : []));

it('handlers that keep the contract compile, and planted mistakes are all refused', async () => {
  expect(mistakes.length).toBeGreaterThan(30);
  expect(await refusedLines(fixture)).toEqual([]);
});

it('each planted mistake stops the compiler when nothing expects it', async () => {
  const unexpected = lines.map((line) => (expectation.test(line) ? '//' : line)).join('\n');
  expect(await refusedLines(unexpected)).toEqual(mistakes);
});

it('an expectation above what is no mistake stops the compiler', async () => {
  const needless = fixture.replace(
    'export const complete',
    '// @ts-expect-error nothing is wrong\nexport const complete',
  );
  expect(needless).not.toBe(fixture);
  expect(await refusedLines(needless)).toHaveLength(1);
});
