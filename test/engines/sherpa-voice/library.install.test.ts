/** The library as `npm run setup` installs it: from the registry, by the lock that is shipped. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkRuntime, installRuntime } from '../../../engines/lib/sherpa/runtime.ts';
import { runProgram } from '../../../src/system/child-process/run-program.ts';
import { describeWith } from '../../support/programs.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

describeWith(['npm'], 'npm run setup -- voice', () => {
  test('installs the library and its binary, which this machine can load', async () => {
    const dataDir = await temporaryDirectory();
    const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
    const context = { dataDir, env: process.env, run: runProgram, log };
    const steps: unknown[] = [];
    const { signal } = new AbortController();
    const call = { signal, progress: (...step: unknown[]) => void steps.push(step) };
    const library = await installRuntime(context, call);
    expect(library.startsWith(join(dataDir, 'runtimes', 'sherpa-onnx-'))).toBe(true);
    expect(await checkRuntime(library, context)).toEqual({ version: '1.13.8' });
    expect(steps).toEqual([
      ['installing sherpa-onnx', null],
      ['installing sherpa-onnx', 1],
    ]);
    await writeFile(join(library, 'kept'), '');
    expect(await installRuntime(context, call)).toBe(library);
    expect(await readFile(join(library, 'kept'), 'utf8')).toBe(''); // not installed again
  });
});
