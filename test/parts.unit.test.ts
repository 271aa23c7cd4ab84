/** The parts that a push may leave out, and the changes that make them run. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { choose, everything, fits, nightlyOnly, parts } from './parts.ts';

const home = join(import.meta.dirname, '..');
const manifest = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as { scripts: Record<string, string> };
const running = (changed: Parameters<typeof choose>[0]) =>
  choose(changed).flatMap(({ part, runs }) => (runs ? [part.name] : []));
const all = parts.map(({ name }) => name);

describe('the list', () => {
  const patterns = [...everything, ...parts.flatMap(({ files }) => files)];
  const exclude = (name: string) => name.endsWith('node_modules');

  it.each([...new Set(patterns)])('has no pattern without a file: %s', (pattern) => {
    expect(globSync(pattern, { cwd: home, exclude }).length).toBeGreaterThan(0);
  });

  it.each([...parts, ...nightlyOnly])('names a script: $script', ({ script }) => {
    expect(manifest.scripts).toHaveProperty([script]);
  });

  /** Its test files, and what they import of engines and of tests themselves. */
  const importedBy = (part: (typeof parts)[number]) => {
    const command = manifest.scripts[part.script] ?? '';
    const [, named] = /--reporter dot (test\/.*)$/.exec(command) ?? [];
    const project = /--project (\w+)/.exec(command)?.[1] ?? '';
    const globs = named?.split(' ').map((path) => `${path}*`) ?? [`test/**/*.${project.replace(/s$/, '')}.test.ts`];
    const files = globs.flatMap((glob) => globSync(glob, { cwd: home, exclude }));
    const tests = files.flatMap((file) =>
      file.endsWith('.ts') ? [file] : globSync(`${file}/*.test.ts`, { cwd: home }),
    );
    const imported = tests.flatMap((file) => {
      const specifiers = readFileSync(join(home, file), 'utf8').matchAll(/from '(\.{1,2}\/[^']+)'/g);
      return [...specifiers].map(([, specifier = '']) => join(dirname(file), specifier));
    });
    return [...new Set([...tests, ...imported])].filter((file) => /^(engines|test)\//.test(file));
  };

  it.each(parts)('names what the tests of $name import', (part) => {
    const patterns = [...everything, ...part.files];
    const files = importedBy(part);
    expect(files.length).toBeGreaterThan(3);
    expect(files.filter((file) => !patterns.some((pattern) => fits(file, pattern)))).toEqual([]);
  });

  test('.ci/run asks for each part by its name, and demands that contract coverage is judged', () => {
    const script = readFileSync(join(home, '.ci/run'), 'utf8');
    for (const name of all) expect(script).toMatch(new RegExp(`\\b${name}\\b`));
    expect(script).toMatch(/^CONTRACT_COVERAGE=required npm run test:system$/m);
  });
});

describe('a change', () => {
  test.each([
    ['nothing that a part depends on', ['src/chat/run.ts', 'docs/README.md'], []],
    ['the jobs', ['src/jobs/work.ts'], ['fleet']],
    ['an engine that downloads and has a table', ['engines/whisper-cli/build.ts'], ['install', 'tables']],
  ])('of %s', (_what, changed, expected) => {
    expect(running(changed)).toEqual(expected);
  });

  test.each([
    'package.json',
    'package-lock.json',
    'src/fleet/packages/package-lock.json',
    '.ci/run',
    'deploy/Containerfile',
    'scripts/build-whisper-packages.ts',
    'scripts/node/bootstrap.mjs',
    'src/bin/doctor.ts',
    'test/parts.ts',
  ])('of %s runs every part', (file) => {
    expect(running(['src/chat/run.ts', file])).toEqual(all);
  });

  test('that is unknown runs every part, and says why', () => {
    expect(choose({ unknown: 'a shallow clone' })).toEqual(
      parts.map((part) => ({ part, runs: true, reason: 'a shallow clone' })),
    );
  });

  test('of a file whose name begins with a dot counts', () => {
    expect(fits('deploy/.env', 'deploy/**')).toBe(true);
    expect(fits('adeploy/x', 'deploy/**')).toBe(false);
  });
});
