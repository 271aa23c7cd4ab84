/** The library as `npm run setup -- chat` installs it: from the registry, by the lock that is shipped. */
import { expect, test } from 'vitest';
import { installRuntime, openRuntime } from '../../../engines/lib/runtime/packages.ts';
import { runProgram } from '../../../src/system/child-process/run-program.ts';
import { describeWith } from '../../support/programs.ts';
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
    await installRuntime(runtime, { env: process.env, run: runProgram, log, signal, progress: () => {} });
    expect(runtime.target.startsWith(dataDir)).toBe(true);
  });
});
