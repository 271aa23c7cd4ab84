/** `npm run sbom`: complete, and at the versions of the lockfile. */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { productionPackages } from '../../scripts/generate/notice.ts';
import { describeWith, run } from '../support/programs.ts';

interface Component {
  readonly group?: string;
  readonly name: string;
  readonly version: string;
  readonly hashes?: readonly { readonly alg: string }[];
}

describeWith(['npm'], 'npm run sbom', () => {
  it('has every production dependency with its version and its hash, and nothing else', async () => {
    const script = join(import.meta.dirname, '../../scripts/sbom.mjs');
    const stdout = await run(process.execPath, [script], { deadlineMs: 120_000 });
    const { bomFormat, components } = JSON.parse(stdout) as { bomFormat: string; components: Component[] };
    expect(bomFormat).toBe('CycloneDX');
    const listed = components.map(({ group, name, version }) => `${group ? `${group}/` : ''}${name} ${version}`);
    expect(listed.toSorted()).toEqual(productionPackages().map(({ name, version }) => `${name} ${version}`).toSorted()); // prettier-ignore
    expect(components.filter(({ hashes }) => !hashes?.some(({ alg }) => alg === 'SHA-512'))).toEqual([]);
  });
});
