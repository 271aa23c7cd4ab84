/** The library as `npm run setup -- chat` installs it: from the registry, by the lock that is shipped. */
import { existsSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { basename } from 'node:path';
import { expect, test } from 'vitest';
import { findRuntime, openRuntime } from '../../../engines/lib/host-program/packages.ts';
import { installPackages } from '../../../src/engine-host/assets/packages.ts';
import { runProgram } from '../../../src/system/child-process/child.ts';
import { describeWith, run } from '../../support/programs.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { runtime as manifest } from './support.ts';

describeWith(['npm'], 'npm run setup -- chat', () => {
  test('installs the library and its binary, which this machine can load', async () => {
    const dataDir = await temporaryDirectory();
    const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
    const platform = `${process.platform}-${process.arch}`;
    const files = ['node-llama-cpp/package.json', `@node-llama-cpp/${platform}/bins/${platform}/llama-addon.node`];
    const runtime = openRuntime({ manifest, files }, { dataDir });
    const { signal } = new AbortController();
    await installPackages(runtime, { env: process.env, run: runProgram, log, signal, progress: () => {} });
    expect(runtime.directory.startsWith(dataDir)).toBe(true);
    expect(findRuntime(runtime)).toBeDefined();
  });

  test('runs no script of its packages either when somebody runs `npm ci` there', async () => {
    const folder = await temporaryDirectory();
    await cp(manifest, folder, { recursive: true, filter: (path) => basename(path) !== 'node_modules' });
    const args = ['--prefix', folder, '--foreground-scripts', '--no-audit', '--no-fund', '--omit=optional'];
    const said = await run('npm', ['ci', ...args], { deadlineMs: 300_000 });
    expect(said).toContain('added');
    expect(said).not.toContain('postinstall');
    expect(existsSync(`${folder}/node_modules/node-llama-cpp/package.json`)).toBe(true);
  });
});
