/** `npm run setup` installs the library from the registry, by the lock file of the service. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkRuntime, runtimeOf } from '../../../engines/lib/sherpa/runtime.ts';
import { installPackages } from '../../../src/engine-host/assets/packages.ts';
import { runProgram } from '../../../src/system/child-process/child.ts';
import { describeWith } from '../../support/programs.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

describeWith(['npm'], 'npm run setup -- voice', () => {
  test('installs the library and its binary, which this machine can load', async () => {
    const dataDir = await temporaryDirectory();
    const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
    const context = { dataDir, env: process.env, run: runProgram, log };
    const { signal } = new AbortController();
    const runtime = runtimeOf(context)!;
    await installPackages(runtime, { ...context, signal, progress: () => {} });
    const library = join(runtime.directory, 'node_modules', 'sherpa-onnx-node');
    expect(library.startsWith(join(dataDir, 'runtimes', 'sherpa-onnx-'))).toBe(true);
    expect(await checkRuntime(library, context)).toEqual({ version: '1.13.8' });
  });
});
