/** What the npm scripts install in a clone, and when: decided with a stand-in for npm, then once with the real one. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, copyFile, cp, mkdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { describeWith } from '../support/programs.ts';
import { temporaryDirectory, writeFiles } from '../support/temporary.ts';
import { startByNpm } from './started-by-npm.ts';

vi.setConfig({ testTimeout: 180_000 });

const home = join(import.meta.dirname, '../..');
const thisNode = `node_modules/node-${process.platform}-${process.arch}`;

interface CloneOptions {
  /** What package.json asks for; 99.1 where the PATH's is to be too old. */
  readonly engine?: string;
  readonly nodePackage?: string;
}

/** Two packages, one of them for development, with a stand-in for npm. */
async function makeClone({ engine = '22.21', nodePackage = thisNode }: CloneOptions = {}) {
  const clone = await temporaryDirectory();
  const inside = (path: string) => join(clone, path);
  const lock = (koa: string) => ({
    packages: { '': {}, 'node_modules/koa': { version: koa }, 'node_modules/vitest': { version: '5.1.1', dev: true } },
  });
  await writeFiles(clone, {
    'package.json': { engines: { node: `>=${engine}` } },
    'package-lock.json': lock('3.3.0'),
    'scripts/node/package-lock.json': { packages: { '': {}, [nodePackage]: { version: '24.21.0', optional: true } } },
  });
  await copyFile(join(home, 'scripts/node/bootstrap.mjs'), inside('scripts/node/bootstrap.mjs'));
  await mkdir(inside('path'));
  await symlink(process.execPath, inside('path/node'));
  await copyFile(join(import.meta.dirname, 'programs/npm-installing.mjs'), inside('path/npm'));
  await chmod(inside('path/npm'), 0o755);

  /** As a script does; returns how npm was called. */
  const bootstrap = async (args: readonly string[] = [], fault = '') => {
    const env = { PATH: inside('path'), NPM_CALLS: inside('calls'), NPM_FAULT: fault };
    await writeFile(inside('calls'), '');
    const line = [inside('scripts/node/bootstrap.mjs'), ...args];
    const { status, stderr } = spawnSync(process.execPath, line, { env, encoding: 'utf8' });
    const calls = (await readFile(inside('calls'), 'utf8')).split('\n').filter(Boolean).toSorted();
    return { status, stderr, calls };
  };
  return {
    inside,
    start: (fault?: string) => bootstrap(['--omit=dev'], fault),
    develop: (fault?: string) => bootstrap([], fault),
    lockKoa: (version: string) => writeFiles(clone, { 'package-lock.json': lock(version) }),
  };
}

const nothing = { status: 0, stderr: '', calls: [] };

describe('packages', () => {
  test('npm start installs what the service needs, a development script adds the rest, once each', async () => {
    const { start, develop } = await makeClone();
    expect(await start()).toMatchObject({ status: 0, calls: ['ci --omit=dev'] });
    expect(await start()).toEqual(nothing);
    expect(await develop()).toMatchObject({ status: 0, calls: ['install --no-save --include=dev'] });
    expect(await develop()).toEqual(nothing);
    expect(await start()).toEqual(nothing);
  });

  test('a development script in a fresh clone installs everything at once', async () => {
    const { start, develop } = await makeClone();
    expect(await develop()).toMatchObject({ status: 0, calls: ['ci --include=dev'] });
    expect(await start()).toEqual(nothing);
  });

  test('another locked version is installed', async () => {
    const { start, develop, lockKoa } = await makeClone();
    await develop();
    await lockKoa('3.4.0');
    expect(await develop()).toMatchObject({ status: 0, calls: ['ci --include=dev'] });
    await lockKoa('3.5.0');
    expect(await start()).toMatchObject({ status: 0, calls: ['ci --omit=dev'] });
  });

  test('an aborted installation fails the script, and the next one repairs it', async () => {
    const { start, develop } = await makeClone();
    expect(await start('fails')).toMatchObject({ status: 1, calls: ['ci --omit=dev'] });
    expect(await start()).toMatchObject({ status: 0, calls: ['ci --omit=dev'] });

    expect(await develop('fails')).toMatchObject({ status: 1, calls: ['install --no-save --include=dev'] });
    expect(await start()).toEqual(nothing);
    expect(await develop()).toMatchObject({ status: 0, calls: ['ci --include=dev'] });
    expect(await develop()).toEqual(nothing);
  });

  test('a missing npm is named', async () => {
    const { inside, start } = await makeClone();
    await rm(inside('path/npm'));
    const { status, stderr } = await start();
    expect(status).toBe(1);
    expect(stderr).toContain('npm cannot be started: spawn npm ENOENT');
  });
});

describe('Node.js', () => {
  const link = 'node_modules/.bin/node';

  test('is the one on the PATH where that is new enough', async () => {
    const { inside, start } = await makeClone();
    await start();
    expect(existsSync(inside(link))).toBe(false);
  });

  test('is installed into scripts/node/ where the one on the PATH is too old, and found by npm scripts', async () => {
    const { inside, start, develop, lockKoa } = await makeClone({ engine: '1.0 <2 || >=99.1' });
    expect(await start()).toMatchObject({ status: 0, calls: ['ci --omit=dev', 'node: ci'] });
    expect(await readlink(inside(link))).toBe('../../scripts/node/node_modules/.bin/node');
    expect(existsSync(inside(`scripts/node/${thisNode}`))).toBe(true);
    expect(existsSync(inside(`scripts/node/${thisNode}/include`))).toBe(false);
    expect(await start()).toEqual(nothing);

    // npm ci takes the link away, with everything else in node_modules.
    await lockKoa('3.4.0');
    expect(await develop()).toMatchObject({ status: 0, calls: ['ci --include=dev'] });
    expect(existsSync(inside(link))).toBe(true);
  });

  const advice = ': install Node.js (https://nodejs.org/en/download) and try again.';
  const sentence = (reason: string) =>
    `Parlance needs Node.js >=99.1; this is ${process.versions.node}, and ${reason}${advice}`;
  const lastLine = (stderr: string) => stderr.trim().split('\n').at(-1);

  test('is asked for in one sentence where scripts/node/ has none for the system', async () => {
    const { start } = await makeClone({ engine: '99.1', nodePackage: 'node_modules/node-plan9-mips' });
    const { status, stderr } = await start();
    expect(status).toBe(1);
    expect(lastLine(stderr)).toBe(sentence(`scripts/node/ has none for ${process.platform} on ${process.arch}`));
  });

  test.each([
    ['skips', /node-\w+-\w+ could not be installed \(npm ci --prefix scripts\/node --loglevel=verbose shows why\)/],
    ['alien', /node-\w+-\w+ does not run here/],
  ])('is asked for where its package %s, and tried again by the next script', async (fault, reason) => {
    const { inside, start } = await makeClone({ engine: '99.1' });
    const { status, stderr } = await start(fault);
    expect(status).toBe(1);
    expect(lastLine(stderr)).toMatch(reason);
    expect(lastLine(stderr)).toContain(advice);
    expect(existsSync(inside(link))).toBe(false);
    expect(await start()).toMatchObject({ status: 0, calls: ['node: ci'] });
  });
});

describeWith(['npm', 'git'], 'a fresh clone, with an empty npm cache and ignore-scripts', () => {
  test('serves after an installation of less than 200 MB, and installs nothing when started again', async () => {
    const clone = await temporaryDirectory();
    const listed = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
    const paths = execFileSync('git', listed, { cwd: home, encoding: 'utf8' }).split('\0').filter(Boolean);
    for (const path of paths.filter((path) => existsSync(join(home, path)))) {
      await mkdir(dirname(join(clone, path)), { recursive: true });
      await cp(join(home, path), join(clone, path));
    }
    const foreign = process.env.PATH!.split(delimiter).filter((directory) => !directory.startsWith(home));
    const env = {
      ...process.env, // with what npm needs to reach its registry
      PATH: foreign.join(delimiter),
      npm_config_cache: await temporaryDirectory(),
      npm_config_ignore_scripts: 'true',
    };

    const first = await startByNpm(clone, env);
    expect(first.said()).toContain('Installing the locked packages (npm ci --omit=dev)');
    const body = JSON.stringify({ text: 'Hello' });
    const headers = { 'content-type': 'application/json' };
    expect(await fetch(`${first.url}/api/v1/tts`, { method: 'POST', headers, body })).toMatchObject({ status: 200 });
    expect(existsSync(join(clone, 'node_modules/vitest'))).toBe(false);
    const installed = ['node_modules', 'scripts/node'];
    const sizes = execFileSync('du', ['-k', '--apparent-size', '-s', ...installed], { cwd: clone, encoding: 'utf8' });
    const total = sizes.split('\n').reduce((sum, line) => sum + Number.parseInt(line || '0'), 0);
    expect(total / 1024).toBeLessThan(200);

    first.npm.kill('SIGTERM');
    expect(await first.exit).toEqual([0, null]);

    const doctor = spawnSync('npm', ['run', 'doctor'], {
      cwd: clone,
      env: { ...process.env, ...env },
      encoding: 'utf8',
    });
    expect(doctor.stdout).toMatch(/ok +Node\.js/);
    expect(doctor.stderr).not.toContain('Installing');
    const second = await startByNpm(clone, env);
    expect(second.said()).not.toContain('Installing');
  });
});
