/** The local engine of "Writing an engine": its model is installed by its name, verified, and then loaded by its program. */
import { copyFile, mkdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { good, serve } from '../engines/whisper-cli/support.ts';
import { startTestService } from '../support/service.ts';
import { temporaryDirectory, writeFiles } from '../support/temporary.ts';
import { home } from './support/pages.ts';
import { wavSamples } from '../support/wav-samples.ts';

const { signal } = new AbortController();

async function start(model: Buffer) {
  const { url, requests } = await serve(good(model));
  const folder = await temporaryDirectory();
  await mkdir(join(folder, 'node_modules/@parlance'), { recursive: true });
  await symlink(home, join(folder, 'node_modules/@parlance/server')); // as in a project that has installed it
  for (const name of ['whistle.ts', 'whistle-host.mjs'])
    await copyFile(join(home, 'examples', name), join(folder, name));
  await writeFiles(folder, { 'settings.yaml': `engines: { whistle: { use: ./whistle.ts, mirror: '${url}' } }` });
  const service = await startTestService({ env: { PARLANCE_CONFIG: join(folder, 'settings.yaml') } });
  onTestFinished(() => service[Symbol.asyncDispose]());
  const say = () => service.post('/tts', { text: 'aeiou', format: 'wav' });
  return { service, say, requests, assets: service.service.registry.assets };
}

test('it says how to install the model, which then speaks', async () => {
  const { say, requests, assets } = await start(await readFile(join(home, 'examples/whistle.json')));
  const refused = await say();
  expect(await refused.json()).toMatchObject({ code: 'model-unavailable', detail: 'Whistled vowels is not installed: run `npm run setup -- whistle`.' }); // prettier-ignore
  expect(await assets.install({ id: 'whistle' }, { signal })).toEqual([]);
  expect(requests.map(({ url }) => url)).toEqual(['/whistle.json']);
  const speech = Buffer.from(await (await say()).arrayBuffer());
  expect(wavSamples(speech)).toHaveLength(5 * 3_200);
});

test('another file is refused', async () => {
  const { say, assets } = await start(Buffer.from('{"a":1}'));
  expect(await assets.install({ id: 'whistle' }, { signal })).toMatchObject([
    { message: expect.stringContaining('is not the expected file') as string },
  ]);
  expect(await (await say()).json()).toMatchObject({ detail: expect.stringContaining('Run `npm run setup -- whistle` to try again.') as string }); // prettier-ignore
});
