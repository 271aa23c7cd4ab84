/** Licences of the packages that the service runs with. That NOTICE is up to date is for `npm run check`. */
import { expect, it } from 'vitest';
import { allowedLicences, notice, productionPackages } from '../../scripts/generate/notice.ts';

const packages = productionPackages();

it('every production dependency has an allowed licence', () => {
  expect(packages.length).toBeGreaterThan(100);
  const others = packages.filter(({ licence }) => licence === undefined || !allowedLicences.has(licence));
  expect(others).toEqual([]);
});

it('only an optional package is under the GPL', () => {
  const gpl = packages.filter(({ licence }) => licence?.startsWith('GPL'));
  expect(gpl).toMatchObject([{ name: '@echogarden/espeak-ng-emscripten', isOptional: true }]);
});

it('every allowed licence is in use', () => {
  expect(new Set(packages.map(({ licence }) => licence))).toEqual(allowedLicences);
});

it('NOTICE names every production dependency with its licence', () => {
  const lines = new Set(notice().split('\n'));
  for (const { name, version, licence = '', isOptional } of packages) {
    expect(lines).toContain(`${name} ${version}: ${licence}${isOptional ? ' (optional)' : ''}`);
  }
});
