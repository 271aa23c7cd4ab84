import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isForbidden, isHouse, mayImport, ruleOf } from './import-rules.ts';

const home = resolve(import.meta.dirname, '..');

/** Every source file with what it imports: paths of the house, or names of packages. */
const imports = new Map(
  ['src', 'engines', 'lib', 'page']
    .flatMap((folder) =>
      readdirSync(join(home, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
    )
    .filter((path) => /\.(m?ts|tsx)$/.test(path))
    .map((path) => [path, importsOf(path)]),
);

function importsOf(path: string): string[] {
  const source = readFileSync(join(home, path), 'utf8').replaceAll(/^ +\* .*\n/gm, ''); // examples in comments import, too
  const specifiers = [
    ...source.matchAll(
      /(?:^|\n)(?:import|export)\b[^;]*?from '([^']+)'|\bimport\('([^']+)'\)|new URL\('(\.[^']*\.ts)'/g,
    ),
  ];
  return specifiers
    .map(([, fromStatic, dynamic, worker]) => fromStatic ?? dynamic ?? worker ?? '')
    .map((specifier) =>
      specifier.startsWith('.') ? relative(home, resolve(home, dirname(path), specifier)) : specifier,
    );
}

function offenders(isOffence: (importer: string, imported: string) => boolean): string[] {
  return [...imports].flatMap(([importer, list]) =>
    list.filter((imported) => isOffence(importer, imported)).map((imported) => `${importer} imports ${imported}`),
  );
}

/** Every schema that has one of these: generators compile them to checks of a string, which no file is. */
const boundsOfStrings = ['minLength', 'maxLength', 'pattern'];

function boundedFiles(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  const isFile = 'format' in value && value.format === 'binary';
  const inner = Object.values(value).flatMap(boundedFiles);
  return isFile && boundsOfStrings.some((bound) => bound in value) ? [value, ...inner] : inner;
}

describe('the generated documents', () => {
  it.each(['openapi.json', 'openapi-3.2.json', 'openapi-compat.json'])('%s bounds no file as a string', (name) => {
    const document = readFileSync(join(home, 'generated', name), 'utf8');
    expect(document).toContain('"binary"');
    expect(boundedFiles(JSON.parse(document))).toEqual([]);
  });
});

describe('the house', () => {
  it('has files to look at', () => {
    expect(imports.size).toBeGreaterThan(30);
    expect(imports.get('src/bin/start.ts')).toContain('src/service.ts');
  });

  it('imports in one direction', () => {
    expect(offenders(isForbidden)).toEqual([]);
  });

  it.each([
    ['src/log.ts', 'src/settings/table.ts'],
    ['src/trace.ts', 'src/log.ts'],
    ['src/request-scope.ts', 'src/keys/key.ts'],
    ['src/service.ts', 'src/bin/start.ts'],
    ['src/service.ts', 'src/conformance/kit.ts'],
    ['src/start-worker.ts', 'src/client/index.ts'],
    ['src/limits/concurrency.ts', 'src/settings/table.ts'],
    ['src/chat/run.ts', 'src/handlers/dependencies.ts'],
    ['src/clips/clip.ts', 'src/speech/speech-models.ts'],
    ['src/realtime/speech-session.ts', 'src/openai/aliases.ts'],
    ['engines/tts/index.ts', 'engines/sandbox/index.ts'],
    ['engines/contract/index.ts', 'lib/abort.ts'],
    ['lib/abort.ts', 'engines/contract/index.ts'],
    ['page/run.ts', 'src/service.ts'],
  ])('forbids that %s imports %s', (importer, imported) => {
    expect([importer, imported].filter((path) => !imports.has(path))).toEqual([]);
    expect(isForbidden(importer, imported)).toBe(true);
  });

  it('has a rule for each source file, and a file for each rule', () => {
    const rules = new Set([...imports.keys()].map((path) => ruleOf(path)));
    expect(rules).toEqual(new Set(mayImport));
  });

  it.each([
    ['koa', 'src/http/app.ts'],
    ['openapi-backend', 'src/http/router.ts'],
    ['ws', 'src/http/socket/upgrade.ts'],
  ])('imports %s in %s alone', (name, place) => {
    expect(
      offenders(
        (importer, imported) => [name, `@${name}`].includes(imported.split('/')[0] ?? '') && importer !== place,
      ),
    ).toEqual([]);
  });

  it('loads ws with the first upgrade, not with the start', () => {
    const source = readFileSync(join(home, 'src/http/socket/upgrade.ts'), 'utf8');
    expect(source).toContain("await import('ws')");
    expect(source).not.toMatch(/^import (?!type\b).*'ws'/m);
  });

  it('has handlers that import no package', () => {
    expect(offenders((importer, imported) => importer.startsWith('src/handlers/') && !isHouse(imported))).toEqual([]);
  });

  it('takes the generated types in one place, and in one for the client', () => {
    const places = ['src/contract/operations.ts', 'src/client/contract.ts'];
    expect(offenders((importer, imported) => imported === 'generated/api.d.ts' && !places.includes(importer))).toEqual(
      [],
    );
  });

  it('has a client that imports neither the service nor Node.js', () => {
    const allowed = /^(src\/client\/|generated\/(openai-)?api\.d\.ts)/;
    expect(offenders((importer, imported) => importer.startsWith('src/client/') && !allowed.test(imported))).toEqual(
      [],
    );
    expect(
      offenders(
        (importer, imported) => imported.startsWith('src/client/') && !/^(src\/(client|sandbox)|page)\//.test(importer),
      ),
    ).toEqual([]);
  });

  it('has a page of few packages', () => {
    const allowed =
      /^(src\/client\/index\.ts|lib\/(spoken-markdown|voice-gate|join-texts|subtitles)\.ts|page\/.*|preact|preact\/hooks|@preact\/signals|streaming-markdown)$/;
    expect(offenders((importer, imported) => /^page\/(?!build\.ts)/.test(importer) && !allowed.test(imported))).toEqual(
      [],
    );
  });

  it('loads the fleet only where it is asked for', () => {
    const importers = [...imports].filter(
      ([importer, list]) => !importer.startsWith('src/fleet/') && list.some((path) => path.startsWith('src/fleet/')),
    );
    const loading = importers.filter(([importer]) =>
      /^(import|export)(?! type)\b[^;]*?from '[^']*\/fleet\//m.test(readFileSync(join(home, importer), 'utf8')),
    );
    expect(importers.map(([importer]) => importer)).toContain('src/open-node.ts');
    expect(loading).toEqual([]);
  });

  it('imports nothing in a circle', () => {
    expect(findCircle()).toBeUndefined();
  });
});

function findCircle(): string | undefined {
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): string | undefined => {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path].join(' -> ');
    if (done.has(path)) return undefined;
    for (const imported of imports.get(path) ?? []) {
      const circle = imports.has(imported) ? visit(imported, [...trail, path]) : undefined;
      if (circle !== undefined) return circle;
    }
    done.add(path);
    return undefined;
  };
  for (const path of imports.keys()) {
    const circle = visit(path, []);
    if (circle !== undefined) return circle;
  }
  return undefined;
}
