import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { problems } from '../../src/contract/problems.ts';
import { settingsTable } from '../../src/settings/table.ts';

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

/** The rows of the first table under a heading, cell by cell, without their code marks. */
function tableUnder(heading: string): { columns: string[]; rows: string[][] } {
  const section = readme.split(/^## /m).find((text) => text.startsWith(`${heading}\n`)) ?? '';
  const cells = section
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim().replace(/^`(.*)`$/, '$1')),
    );
  const [columns = [], , ...rows] = cells;
  return { columns, rows };
}

it('the README has the table of problem codes that the source has', () => {
  const { columns, rows } = tableUnder('Error codes');
  expect(columns).toEqual(['code', 'status', 'title']);
  expect(rows).toEqual(Object.entries(problems).map(([code, { status, title }]) => [code, String(status), title]));
});

it('the README has the table of settings that the source has', () => {
  const { columns, rows } = tableUnder('Settings');
  expect(columns).toEqual(['variable', 'in the file', 'default', 'what it is']);
  expect(rows).toEqual(
    Object.entries(settingsTable).map(([name, { env, inFile, default: standard, description }]) => [
      env,
      inFile === false ? '' : name,
      [standard].flat().join(),
      description,
    ]),
  );
});
