/** Licenses of the packages that the service runs with. That NOTICE is up to date is for `npm run check`. */
import { expect, it } from 'vitest';
import { allowedLicenses, notice, productionPackages } from '../../scripts/generate/notice.ts';

const packages = productionPackages();

it('every production dependency has an allowed license', () => {
  expect(packages.length).toBeGreaterThan(100);
  const others = packages.filter(({ license }) => license === undefined || !allowedLicenses.has(license));
  expect(others).toEqual([]);
});

it('only an optional package is under the GPL', () => {
  const gpl = packages.filter(({ license }) => license?.startsWith('GPL'));
  expect(gpl).toMatchObject([{ name: '@echogarden/espeak-ng-emscripten', isOptional: true }]);
});

it('every allowed license is in use', () => {
  expect(new Set(packages.map(({ license }) => license))).toEqual(allowedLicenses);
});

it('NOTICE names every production dependency with its license', () => {
  const lines = new Set(notice().split('\n'));
  for (const { name, version, license = '', isOptional } of packages) {
    expect(lines).toContain(`${name} ${version}: ${license}${isOptional ? ' (optional)' : ''}`);
  }
});
