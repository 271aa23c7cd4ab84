import { chmod, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run } from '../../support/programs.ts';
import { writeToneModel } from '../../support/tone-model.ts';
import { temporaryDirectory } from './support.ts';

async function modelPath(): Promise<string> {
  return join(await temporaryDirectory(), 'ggml-test.bin');
}

async function toneModel(options?: { englishOnly: boolean }) {
  const path = await modelPath();
  await writeToneModel(path, options);
  return { path, bytes: await readFile(path) };
}

test('a file that may not be read says so', async () => {
  const { path } = await toneModel();
  await chmod(path, 0);
  expect(await inspectWithoutPowers(path)).toEqual({
    ok: false,
    problem: 'missing',
    detail: `${path} cannot be read: permission denied`,
  });
});

/** In a process that may not read everything, as root may. */
async function inspectWithoutPowers(path: string): Promise<unknown> {
  const module = new URL('../../../engines/whisper-cli/model-file.ts', import.meta.url).href;
  const script = `const { inspectModelFile } = await import('${module}'); console.log(JSON.stringify(inspectModelFile('${path}')))`;
  const node = [process.execPath, '--input-type=module', '--eval', script];
  const powers = '-dac_override,-dac_read_search';
  const isRoot = process.getuid?.() === 0;
  const [program = '', ...args] = isRoot ? ['setpriv', '--bounding-set', powers, '--', ...node] : node;
  return JSON.parse(await run(program, args)) as unknown;
}
