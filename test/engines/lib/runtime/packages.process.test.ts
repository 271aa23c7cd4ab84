/** Packages on demand: the real npm against a registry of the test's own. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  directoryOf,
  findInstalled,
  installPackages,
  type Installation,
  type RuntimePackages,
} from '../../../../engines/lib/runtime/packages.ts';
import { runProgram } from '../../../../src/system/child-process/run-program.ts';
import { describeWith, run } from '../../../support/programs.ts';
import { recordingLog, serve, temporaryDirectory, type Answer } from '../../whisper-cli/support.ts';

const integrityOf = (bytes: Uint8Array) => `sha512-${createHash('sha512').update(bytes).digest('base64')}`;

describeWith(['npm', 'tar'], 'packages of an engine’s host', () => {
  let directory: string;
  let tarball: Buffer;
  beforeEach(async () => {
    directory = await temporaryDirectory();
    await mkdir(join(directory, 'package'));
    const scripts = { postinstall: 'touch ran' };
    await writeFile(
      join(directory, 'package/package.json'),
      JSON.stringify({ name: 'voices', version: '1.0.0', scripts }),
    );
    await writeFile(join(directory, 'package/voices.node'), 'library');
    await run('tar', ['-czf', join(directory, 'voices.tgz'), '-C', directory, 'package']);
    tarball = await readFile(join(directory, 'voices.tgz'));
  });

  /** As they are shipped with an engine. */
  async function manifests(url: string, { integrity = integrityOf(tarball), version = '1.0.0' } = {}) {
    const path = join(directory, `manifests-${version}`);
    await mkdir(path, { recursive: true });
    const dependencies = { voices: version };
    const entry = { version, resolved: `${url}/voices.tgz`, integrity, hasInstallScript: true };
    const packages = { '': { name: 'runtime', dependencies }, 'node_modules/voices': entry };
    await writeFile(join(path, 'package.json'), JSON.stringify({ name: 'runtime', private: true, dependencies }));
    const lock = { name: 'runtime', lockfileVersion: 3, requires: true, packages };
    await writeFile(join(path, 'package-lock.json'), JSON.stringify(lock));
    return { name: 'voice', manifests: path, files: ['voices/voices.node'] } satisfies RuntimePackages;
  }

  const served: Answer = (_request, response) => void response.end(tarball);

  function installation(changes: Partial<Installation> = {}): Installation {
    return {
      dataDir: join(directory, 'data'),
      env: { ...process.env, npm_config_fetch_retries: '0' },
      run: runProgram,
      log: recordingLog(),
      signal: new AbortController().signal,
      check: () => Promise.resolve(),
      ...changes,
    };
  }

  const installed = async () => (await readdir(join(directory, 'data/runtimes'))).toSorted();

  test('are installed with their lock, once, and without their scripts', async () => {
    const { url, requests } = await serve(served);
    const packages = await manifests(url);
    expect(findInstalled(packages, installation().dataDir)).toBeUndefined();
    const target = await installPackages(packages, installation());
    expect(target).toBe(directoryOf(packages, installation().dataDir));
    expect(findInstalled(packages, installation().dataDir)).toBe(target);
    expect(await readFile(join(target, 'node_modules/voices/voices.node'), 'utf8')).toBe('library');
    expect(existsSync(join(target, 'node_modules/voices/ran'))).toBe(false);
    expect((await readdir(target)).toSorted()).toEqual(['node_modules', 'package-lock.json', 'package.json']);
    expect(await installPackages(packages, installation())).toBe(target);
    expect(requests).toHaveLength(1);
    expect(await installed()).toEqual([basename(target)]);
  });

  test('are installed once for two that ask at the same time', async () => {
    const { url, requests } = await serve(served);
    const packages = await manifests(url);
    const [one, other] = await Promise.all([1, 2].map(() => installPackages(packages, installation())));
    expect(one).toBe(other);
    expect(requests).toHaveLength(1);
  });

  test('that have another digest than the lock are refused with npm’s words, and nothing is left', async () => {
    const { url } = await serve(served);
    const packages = await manifests(url, { integrity: integrityOf(Buffer.from('something else')) });
    await expect(installPackages(packages, installation())).rejects.toThrow(
      /`npm ci` failed with exit code \d+\n[^]*EINTEGRITY/,
    );
    expect(await installed()).toEqual([]);
  });

  test('that lack a file, or that this machine cannot load, are not installed', async () => {
    const { url } = await serve(served);
    const packages = await manifests(url);
    const incomplete = { ...packages, files: ['voices/other.node'] };
    await expect(installPackages(incomplete, installation())).rejects.toThrow(
      'npm has installed voice without voices/other.node',
    );
    const check = () => Promise.reject(new Error('needs glibc 2.32'));
    await expect(installPackages(packages, installation({ check }))).rejects.toThrow('needs glibc 2.32');
    expect(await installed()).toEqual([]);
  });

  test('of a newer lock replace the older ones, and what a killed installation has left', async () => {
    const { url } = await serve(served);
    const older = await installPackages(await manifests(url), installation());
    await mkdir(join(directory, 'data/runtimes/.installing-voice-Abc123/node_modules'), { recursive: true });
    await mkdir(join(directory, 'data/runtimes/voices-of-others'));
    const newer = await installPackages(await manifests(url, { version: '1.0.1' }), installation());
    expect(newer).not.toBe(older);
    expect(await installed()).toEqual([basename(newer), 'voices-of-others'].toSorted());
  });

  test('are given up by their caller at once, and nothing is left', async () => {
    const asked = Promise.withResolvers<undefined>();
    const { url } = await serve(() => asked.resolve(undefined)); // never answers
    const controller = new AbortController();
    const done = installPackages(await manifests(url), installation({ signal: controller.signal }));
    done.catch(() => {});
    await asked.promise;
    controller.abort(new Error('enough'));
    await expect(done).rejects.toThrow('enough');
    expect(await installed()).toEqual([]);
  });
});

describe('without npm', () => {
  test('the way to get it is said', async () => {
    const directory = await temporaryDirectory();
    for (const name of ['package.json', 'package-lock.json']) await writeFile(join(directory, name), '{}');
    const packages = { name: 'voice', manifests: directory, files: ['voices/voices.node'] };
    const call = { dataDir: directory, env: { PATH: directory }, run: runProgram, log: recordingLog() };
    const { signal } = new AbortController();
    await expect(installPackages(packages, { ...call, signal, check: () => Promise.resolve() })).rejects.toThrow(
      'npm not found (fix: apt-get install npm)',
    );
  });
});
