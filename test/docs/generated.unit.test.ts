/** What writes the tables of the documents. That the pages are up to date is for `npm run check`. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { importGraph } from '../../scripts/generate/import-graph.ts';
import { table, withBlock } from '../../scripts/generate/markdown.ts';
import { optionsTable } from '../../scripts/generate/reference.ts';
import { home } from './support/pages.ts';

describe('a generated block', () => {
  const page = withBlock('# Title\n\nBefore.\n', 'options', 'old');

  it('is appended to a page without it, and replaced in one that has it', () => {
    expect(page).toMatch(/^# Title\n\nBefore\.\n\n<!-- generated: options .*old.*<!-- end of generated -->\n$/s);
    const changed = withBlock(`${page}\nAfter.\n`, 'options', 'new');
    expect(changed).toMatch(/Before\..*new.*After\.\n$/s);
    expect(changed).not.toContain('old');
  });

  it('leaves other blocks alone', () => {
    const both = withBlock(page, 'more', 'other');
    expect(withBlock(both, 'options', 'new')).toContain('other');
  });

  it('throws when its end is missing', () => {
    expect(() => withBlock(page.replace('<!-- end of generated -->', ''), 'options', 'new')).toThrow('does not end');
  });
});

describe('a generated table', () => {
  it('escapes bars and joins lines', () => {
    expect(table(['a'], [['x | y\nz']])).toBe('| a |\n| --- |\n| x \\| y z |');
  });

  it('has a row for every option, also for those of list items', () => {
    const text = optionsTable({
      type: 'object',
      required: ['models'],
      properties: {
        models: {
          type: 'array',
          minItems: 1,
          items: { type: ['string', 'object'], required: ['id'], properties: { id: { type: 'string', maxLength: 9 } } },
        },
        slots: { type: 'integer', minimum: 1, maximum: 1024, description: 'At once.' },
        api: { enum: ['chat', 'responses'] },
      },
    });
    expect(text.split('\n').slice(2)).toEqual([
      '| `models` | list of strings or objects, at least 1 | yes |  |',
      '| `models[].id` | string, at most 9 characters | yes |  |',
      '| `slots` | integer, 1 to 1,024 |  | At once. |',
      '| `api` | `chat`, `responses` |  |  |',
    ]);
  });
});

describe('the import graph', () => {
  it('leaves out what follows from other arrows', () => {
    const graph = importGraph();
    const node = (label: string) => new RegExp(`(r\\d+)\\["${label}"\\]`).exec(graph)?.[1] ?? '';
    expect(graph).toContain(`${node('engines/lib')} --> ${node('lib')}`);
    expect(graph).not.toContain(`${node('src/handlers')} --> ${node('lib')}\n`);
  });
});

describe('the pages of engines', () => {
  it('are those of the folders', () => {
    const folders = readdirSync(join(home, 'engines')).filter((name) =>
      existsSync(join(home, 'engines', name, 'index.ts')),
    );
    const pages = readdirSync(join(home, 'docs/engines')).map((name) => name.replace('.md', ''));
    expect(pages.sort()).toEqual(folders.filter((name) => name !== 'contract').sort());
  });
});
