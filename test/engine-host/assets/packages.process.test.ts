/** A real npm against a registry on 127.0.0.1. */
import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { MakeCall } from '../../../engines/contract/index.ts';
import { findRuntime, openRuntime, type Runtime } from '../../../engines/lib/host-program/packages.ts';
import { installPackages } from '../../../src/engine-host/assets/packages.ts';
import { runProgram } from '../../../src/system/child-process/child.ts';
import { entriesOf, temporaryDirectory, writeFiles } from '../../support/temporary.ts';
import { recordingLog, serve, type Answer } from '../../engines/whisper-cli/support.ts';

const files = ['engine-linux/engine.js', 'engine/index.js'];

interface Changes {
  readonly version?: string;
  /** The module that stands for a binary. */
  readonly binary?: string;
  /** The platform's package has another digest than its tarball. */
  readonly isForged?: boolean;
  readonly answer?: (tarball: Buffer) => Answer;
}

/** Packages, their lock, and a registry that serves them. */
async function publish({ version = '1.0.0', binary = '', isForged = false, answer = send }: Changes = {}) {
  const source = await temporaryDirectory();
  const pack = async (name: string, main: string, content: string) => {
    await writeFiles(source, {
      [`${name}/package/package.json`]: { name, version, main, scripts: { install: 'touch script-has-run' } },
      [`${name}/package/${main}`]: content,
    });
    execFileSync('tar', ['-czf', `${name}.tgz`, '-C', name, 'package'], { cwd: source });
    return readFile(join(source, `${name}.tgz`));
  };
  const tarballs = {
    engine: await pack('engine', 'index.js', `require('engine-linux/engine.js');`),
    'engine-linux': await pack('engine-linux', 'engine.js', binary),
  };
  const { url, requests } = await serve((request, response) => {
    const name = request.url?.startsWith('/engine-linux') ? 'engine-linux' : 'engine';
    return answer(tarballs[name])(request, response);
  });
  const locked = (name: keyof typeof tarballs) => ({
    version,
    resolved: `${url}/${name}/-/${name}-${version}.tgz`,
    integrity: `sha512-${hash('sha512', isForged && name !== 'engine' ? 'another' : tarballs[name], 'base64')}`,
  });
  const root = { name: 'engine', version, dependencies: { engine: version, 'engine-linux': version } };
  await writeFiles(source, {
    'manifest/package.json': { ...root, private: true },
    'manifest/package-lock.json': {
      ...{ name: 'engine', version, lockfileVersion: 3, requires: true },
      packages: {
        '': root,
        'node_modules/engine': locked('engine'),
        'node_modules/engine-linux': locked('engine-linux'),
      },
    },
  });
  return { manifest: join(source, 'manifest'), source, url, requests };
}

const send =
  (tarball: Buffer): Answer =>
  (_request, response) =>
    void response.end(tarball);

async function installationOf({ url }: { readonly url: string }, changes: Partial<MakeCall> = {}) {
  const { PATH } = process.env;
  const HOME = await temporaryDirectory();
  return {
    env: { PATH, HOME, npm_config_registry: url, npm_config_fetch_retries: '0' },
    run: runProgram,
    log: recordingLog(),
    signal: new AbortController().signal,
    progress: () => {},
    ...changes,
  };
}

const installed = (dataDir: string) => entriesOf(join(dataDir, 'runtimes'));
const nameOf = ({ directory }: Runtime) => directory.split('/').at(-1);

test('the locked packages are installed without their scripts', async () => {
  const published = await publish();
  const dataDir = join(await temporaryDirectory(), 'data');
  const runtime = openRuntime({ manifest: published.manifest, files }, { dataDir });
  expect(findRuntime(runtime)).toBeUndefined();
  const fractions: (number | null)[] = [];
  const progress = (fraction: number | null) => void fractions.push(fraction);
  await installPackages(runtime, await installationOf(published, { progress }));
  expect(findRuntime(runtime)).toBe(runtime.directory);
  expect(fractions).toEqual([null]);
  expect(await installed(dataDir)).toEqual([nameOf(runtime)]);
  expect(nameOf(runtime)).toMatch(/^engine-1\.0\.0-[0-9a-f]{16}$/);
  expect(existsSync(join(runtime.directory, 'node_modules/engine/script-has-run'))).toBe(false);
});

test('a wrong digest fails with what npm says, and leaves nothing', async () => {
  const published = await publish({ isForged: true });
  const dataDir = join(await temporaryDirectory(), 'data');
  const runtime = openRuntime({ manifest: published.manifest, files }, { dataDir });
  const failure = installPackages(runtime, await installationOf(published));
  await expect(failure).rejects.toThrow(/`npm ci` failed with exit code 1\n[^]*EINTEGRITY/);
  expect(await installed(dataDir)).toEqual([]);
});

test('what cannot be loaded on this machine is not installed', async () => {
  const published = await publish({ binary: `throw new Error('GLIBC_2.38 not found');` });
  const dataDir = join(await temporaryDirectory(), 'data');
  const runtime = openRuntime({ manifest: published.manifest, files }, { dataDir });
  const failure = installPackages(runtime, await installationOf(published));
  await expect(failure).rejects.toThrow(/engine 1\.0\.0 cannot be loaded on this machine: [^]*GLIBC_2\.38 not found/);
  expect(await installed(dataDir)).toEqual([]);
});

test('an aborted installation leaves nothing, and neither does one that was killed', async () => {
  const ended = new AbortController();
  const published = await publish({ answer: () => () => ended.abort(new Error('stopped by SIGTERM')) });
  const dataDir = join(await temporaryDirectory(), 'data');
  const runtime = openRuntime({ manifest: published.manifest, files }, { dataDir });
  const failure = installPackages(runtime, await installationOf(published, { signal: ended.signal }));
  await expect(failure).rejects.toThrow('stopped by SIGTERM');
  expect(await installed(dataDir)).toEqual([]);
  await mkdir(join(dataDir, 'runtimes/engine.installing-killed/runtime/node_modules'), { recursive: true });
  expect(findRuntime(runtime)).toBeUndefined();
  const other = await publish();
  const whole = openRuntime({ manifest: other.manifest, files }, { dataDir });
  await installPackages(whole, await installationOf(other));
  expect(await installed(dataDir)).toEqual([nameOf(whole)]);
});

test('a newer lock replaces an older one, and nothing of other runtimes', async () => {
  const dataDir = join(await temporaryDirectory(), 'data');
  await mkdir(join(dataDir, 'runtimes/engine-other-1.0.0-0123456789abcdef'), { recursive: true });
  for (const version of ['1.0.0', '1.1.0']) {
    const published = await publish({ version });
    const runtime = openRuntime({ manifest: published.manifest, files }, { dataDir });
    await installPackages(runtime, await installationOf(published));
    expect((await installed(dataDir)).toSorted()).toEqual([nameOf(runtime), 'engine-other-1.0.0-0123456789abcdef']);
  }
});

test('packages of the locked version beside us are used', async () => {
  const { manifest, source } = await publish();
  const runtime = openRuntime({ manifest, files }, { dataDir: await temporaryDirectory() });
  const put = (version: string) =>
    writeFiles(source, {
      'node_modules/engine/package.json': { version },
      'node_modules/engine/index.js': '',
      'node_modules/engine-linux/package.json': { version },
      'node_modules/engine-linux/engine.js': '',
    });
  await put('2.0.0');
  expect(findRuntime(runtime)).toBeUndefined();
  await put('1.0.0');
  expect(findRuntime(runtime)).toBe(source);
});
