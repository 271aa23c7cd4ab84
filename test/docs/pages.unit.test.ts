import { existsSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { codecsOfFfmpeg } from '../../src/audio/wasm/needs-ffmpeg.ts';
import { loadSettings } from '../../src/settings/load.ts';
import { blocksOf, home, pages, readPage } from './support/pages.ts';

/** As GitHub makes them of headings. */
function anchorsOf(page: string): string[] {
  return [...readPage(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** Links to files of the repository. */
function linksOf(page: string): { readonly target: string; readonly anchor: string | undefined }[] {
  return [...readPage(page).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, link = '']) => {
    const [path = '', anchor] = link.split('#');
    return { target: path === '' ? page : normalize(join(dirname(page), path)), anchor };
  });
}

const isStale = ({ target, anchor }: ReturnType<typeof linksOf>[number]): boolean =>
  !existsSync(join(home, target)) || (anchor !== undefined && !anchorsOf(target).includes(anchor));

describe('the documents', () => {
  it.each(pages)('%s links to what exists', (page) => {
    expect(linksOf(page).filter(isStale)).toEqual([]);
  });

  it.each(pages)('%s shows code without syntax errors', (page) => {
    for (const block of [...blocksOf(page, 'js'), ...blocksOf(page, 'ts')]) stripTypeScriptTypes(block);
    for (const block of blocksOf(page, 'json')) JSON.parse(block);
  });

  it.each(pages)('%s names no module .js, which `npm init` makes CommonJS', (page) => {
    const modules = blocksOf(page, 'js').filter((block) => /^import /m.test(block));
    expect(modules.filter((block) => /^\/\/ \S+\.js\b/.test(block))).toEqual([]);
  });

  it.each(['openai-apps', 'realtime'])(
    'name in %s the oldest versions of the SDKs, which ours are not older than',
    (name) => {
      for (const sdk of ['openai', 'ai']) {
        const [, oldest = ''] =
          new RegExp(`\`${sdk}\` ([\\d.]+) or later`).exec(readPage(`docs/guides/${name}.md`)) ?? [];
        expect(oldest, sdk).not.toBe('');
        const { version } = JSON.parse(readPage(`node_modules/${sdk}/package.json`)) as { version: string };
        expect(version.localeCompare(oldest, 'en', { numeric: true })).toBeGreaterThanOrEqual(0);
      }
    },
  );

  it.each(['browser-client', 'contract-testing'])(
    'name in %s the AsyncAPI document and what makes types of it',
    (name) => {
      expect(readPage(`docs/guides/${name}.md`)).toMatch(
        /`\/asyncapi-compat\.json` \(AsyncAPI 3\).*npx @asyncapi\/modelina-cli/s,
      );
    },
  );

  it('list the codecs that need ffmpeg', () => {
    expect(readPage('docs/getting-started.md')).toContain(codecsOfFfmpeg);
  });

  it('list the default engines, with their addresses on this machine', () => {
    const byDefault = loadSettings({ PARLANCE_CONFIG: '' }).engines;
    const withKey = loadSettings({ PARLANCE_CONFIG: '', OPENAI_API_KEY: 'k' }).engines;
    const [, table = ''] = readPage('docs/reference/settings.md').split('\n## Default engines\n');
    const names = [...table.matchAll(/^\| (`.*?)\|/gm)].flatMap(([, cell = '']) => cell.match(/[\w-]+/g) ?? []);
    expect(names.sort()).toEqual([...new Set([...Object.keys(byDefault), ...Object.keys(withKey)])].sort());
    const addresses = JSON.stringify(byDefault).match(/127\.0\.0\.1:\d+/g) ?? [];
    expect(addresses).toHaveLength(3);
    for (const address of addresses) expect(table).toContain(address);
  });

  it('are all linked from the README or from docs/README.md', () => {
    const linked = ['README.md', 'docs/README.md', 'docs/decisions/README.md']
      .flatMap(linksOf)
      .map(({ target }) => target);
    const unlinked = pages.filter((page) => !linked.includes(page));
    expect(unlinked).toEqual(['README.md']);
  });

  it('have the command that clones the repository in the README alone, and no placeholder but its URL', () => {
    expect(blocksOf('README.md', 'sh')[0]).toMatch(/^git clone URL parlance && cd parlance /);
    expect(readPage('docs/getting-started.md')).not.toMatch(/ADDRESS(?! *`)/);
  });

  it('begin with a README of at most 150 lines', () => {
    expect(readPage('README.md').split('\n').length).toBeLessThanOrEqual(150);
  });
});
