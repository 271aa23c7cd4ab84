import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const home = resolve(import.meta.dirname, '..');

/** Every source file with what it imports: paths of the house, or names of packages. */
const imports = new Map(
  ['src', 'engines']
    .flatMap((folder) =>
      readdirSync(join(home, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
    )
    .filter((path) => /\.m?ts$/.test(path))
    .map((path) => [path, importsOf(path)]),
);

function importsOf(path: string): string[] {
  const source = readFileSync(join(home, path), 'utf8');
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

const isHouse = (path: string) =>
  path.startsWith('src/') || path.startsWith('engines/') || path.startsWith('generated/');

describe('the house', () => {
  it('has files to look at', () => {
    expect(imports.size).toBeGreaterThan(30);
    expect(imports.get('src/main.ts')).toContain('src/service.ts');
  });

  it('lets only the app know Koa', () => {
    expect(offenders((importer, imported) => imported === 'koa' && importer !== 'src/app.ts')).toEqual([]);
  });

  it('lets only the backend know openapi-backend', () => {
    expect(offenders((importer, imported) => imported === 'openapi-backend' && importer !== 'src/backend.ts')).toEqual(
      [],
    );
  });

  it('lets engines import only the contract, their own folder and engines/lib', () => {
    const isForeign = (importer: string, imported: string) => {
      const [, folder = ''] = /^engines\/([^/]+)\//.exec(importer) ?? [];
      if (folder === '' || !isHouse(imported)) return false;
      const allowed = [`engines/${folder}/`, 'engines/lib/', 'engines/contract.ts'];
      if (folder === 'lib') allowed.push('engines/http-client.ts');
      return !allowed.some((start) => imported.startsWith(start));
    };
    expect(offenders(isForeign)).toEqual([]);
  });

  it('lets nothing in engines/ import src', () => {
    expect(
      offenders((importer, imported) => importer.startsWith('engines/') && /^(src|generated)\//.test(imported)),
    ).toEqual([]);
  });

  it('lets src reach engines through contract and registry alone', () => {
    const isInside = (importer: string, imported: string) =>
      importer.startsWith('src/') && /^engines\/[^/]+\//.test(imported);
    expect(offenders(isInside)).toEqual([]);
  });

  it('lets handlers reach neither HTTP nor the machine', () => {
    const allowed =
      /^(src\/(deadline|operations|problems|services|models)\.ts|src\/(handlers|chat)\/|engines\/(contract|registry)\.ts)/;
    expect(
      offenders(
        (importer, imported) => importer.startsWith('src/handlers/') && isHouse(imported) && !allowed.test(imported),
      ),
    ).toEqual([]);
    expect(offenders((importer, imported) => importer.startsWith('src/handlers/') && !isHouse(imported))).toEqual([]);
  });

  it('takes the generated types in one place, and in one for the client', () => {
    const places = ['src/operations.ts', 'src/client/contract.ts'];
    expect(offenders((importer, imported) => imported === 'generated/api.d.ts' && !places.includes(importer))).toEqual(
      [],
    );
  });

  it('keeps the client apart from the service, and from Node.js', () => {
    const allowed = /^(src\/client\/|generated\/api\.d\.ts|openapi-fetch|eventsource-parser)/;
    expect(offenders((importer, imported) => importer.startsWith('src/client/') && !allowed.test(imported))).toEqual(
      [],
    );
    expect(
      offenders((importer, imported) => imported.startsWith('src/client/') && !importer.startsWith('src/client/')),
    ).toEqual([]);
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
