/** The engine in the README is whole: written to a file, named in the settings, it transcribes. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { upload } from './support/local-service.ts';
import { startTestService, type TestService } from './support/service.ts';
import { toneWav } from './support/tone-model.ts';

let folder: string;
let service: TestService;

beforeAll(async () => {
  const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
  const [, source = ''] = /```ts\n(\/\/ my-engine\.ts\n.*?)```/s.exec(readme) ?? [];
  // Inside of the package, so that '@parlance/server/engine' is the one of this checkout.
  folder = await mkdtemp(join(import.meta.dirname, 'readme-engine-'));
  await writeFile(join(folder, 'my-engine.ts'), source);
  service = await startTestService({
    config: `engines: { mine: { use: ${join(folder, 'my-engine.ts')}, word: hello } }`,
  });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

test('is listed under its own instance', async () => {
  expect(await (await service.api('/transcribe/models')).json()).toMatchObject({
    data: [{ id: 'parrot', engine: 'mine', local: true, available: true }],
    default: 'parrot',
  });
});

test('answers through the API', async () => {
  const twoSeconds = toneWav({ words: [], rate: 16_000, tailSeconds: 1.5 });
  expect(await (await upload(service, twoSeconds)).json()).toEqual({
    text: 'hello hello',
    language: null,
    duration_ms: 2000,
    model: 'parrot',
  });
});

test('has its settings checked', async () => {
  const config = `engines: { mine: { use: ${join(folder, 'my-engine.ts')}, wrod: hello } }`;
  await expect(startTestService({ config })).rejects.toThrow('"wrod" is no setting here; known are word');
});
