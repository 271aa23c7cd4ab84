/** Whether a package with the programs, found where `import` would find it, can be used here. */
import { readFileSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openPackage, packagedWhisper } from '../../../engines/whisper-cli/packaged.ts';
import { temporaryDirectory, writeFiles } from '../../support/temporary.ts';

const home = resolve(import.meta.dirname, '../../..');
const read = (path: string) => JSON.parse(readFileSync(join(home, path), 'utf8')) as Record<string, unknown>;
const { version } = read('package.json');
const name = `@parlance/whisper-${process.platform}-${process.arch}`;
const good = { name, version, parlance: { glibc: '2.35' } };

/** What is found from a project that has it. */
async function opened(manifest: unknown, glibc: string | undefined = '2.36', mode = 0o755) {
  const project = await temporaryDirectory();
  const inside = (path: string) => join(project, 'node_modules', name, path);
  await writeFiles(inside('.'), { 'package.json': manifest, 'bin/whisper-cli': '' });
  await chmod(inside('bin/whisper-cli'), mode);
  return { found: openPackage({ from: join(project, 'index.js'), glibc }), inside };
}

describe('a package with the programs', () => {
  it('is used', async () => {
    const { found, inside } = await opened(good);
    expect(found).toEqual({ program: inside('bin/whisper-cli') });
  });

  it('is not there in a clone', () => {
    expect(packagedWhisper()).toBeUndefined();
  });

  it('of another version is not used', async () => {
    const { found } = await opened({ ...good, version: '0.0.7' });
    expect(found).toEqual({
      problem: `${name} 0.0.7 is not for this version (fix: npm install ${name}@${String(version)})`,
    });
  });

  it.each([
    ['2.34', 'has 2.34'],
    ['2.9', 'has 2.9'],
    ['1.99', 'has 1.99'],
  ])('is not used with glibc %s', async (glibc, says) => {
    const { found } = await opened(good, glibc);
    expect(found).toEqual({ problem: `${name} ${String(version)} needs glibc 2.35, this machine ${says}` });
  });

  it.each(['2.35', '2.100', '3.0'])('is used with glibc %s', async (glibc) => {
    expect((await opened(good, glibc)).found).toHaveProperty('program');
  });

  it('is not used where its program may not be run', async () => {
    const { found, inside } = await opened(good, '2.36', 0o644);
    expect(found).toEqual({ problem: `${inside('bin/whisper-cli')} cannot be run` });
  });

  it.each([[], {}, { ...good, version: { toString: 1 } }, { ...good, parlance: null }, 'text'])(
    'with a strange package.json harms nothing: %j',
    async (manifest) => {
      const { found } = await opened(manifest);
      expect(found === undefined || 'problem' in found || found.program.startsWith('/')).toBe(true);
    },
  );
});

describe.each(['x64', 'arm64'])('packages/whisper-linux-%s', (arch) => {
  it('is of the version of the service, for one platform', () => {
    expect(read(`packages/whisper-linux-${arch}/package.json`)).toMatchObject({
      ...{ name: `@parlance/whisper-linux-${arch}`, version, parlance: { glibc: '2.35' } },
      ...{ os: ['linux'], cpu: [arch], libc: ['glibc'], files: ['bin', 'NOTICE'] },
    });
  });
});
