/** `npm run setup -- chat`: the model of the catalog is downloaded, verified, and then answers. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { catalog } from '../../../engines/llama-local/catalog.ts';
import { replaceFiles } from '../../support/catalog.ts';
import { answers, makeChatModel } from '../../support/chat-model.ts';
import { startTestService } from '../../support/service.ts';
import { good, serve, type Answer } from '../whisper-cli/support.ts';
import { hasLibrary } from './support.ts';

/** The model of the tests stands in for the real one, whose bytes are not available to them. */
const model = makeChatModel();

async function startSetup(...given: readonly Answer[]) {
  replaceFiles(catalog, 'qwen3-0.6b', model);
  const { url, requests } = await serve(...given);
  const engines = { llama: { use: 'llama-local', mirror: url } };
  const service = await startTestService({ config: JSON.stringify({ engines }) });
  const availability = () => service.service.registry.of('chat').all[0]!.availability;
  const { assets } = service.service.registry;
  const install = () => assets.install({ id: 'chat', isExplicit: true }, { signal: new AbortController().signal });
  const ask = async () =>
    (await (await service.post('/chat', { messages: [{ role: 'user', content: 'Hello.' }] })).json()) as object;
  return { service, availability, assets, requests, install, ask, directory: join(service.dir, 'data', 'models') };
}

describe.skipIf(!hasLibrary)('npm run setup -- chat', () => {
  test('downloads the model, which then answers; a second call does nothing', async () => {
    const { service, assets, requests, install, ask } = await startSetup(good(model));
    await using _ = service;
    const [before, ...others] = await assets.list();
    expect(before).toMatchObject({ id: 'chat', license: 'MIT, Apache-2.0', state: 'missing' });
    expect(before!.bytes).toBe(88_000_000 + model.length);
    expect(others).toMatchObject([
      { id: 'qwen3-0.6b', title: 'Small chat model (Qwen3 0.6B)', model: 'qwen3-0.6b', state: 'missing' },
    ]);
    expect(requests).toEqual([]);
    expect(await install()).toEqual([]);
    expect(requests.map(({ url }) => url)).toEqual([`/${catalog.find('qwen3-0.6b')!.files[0]!.path}`]);
    expect(await assets.list()).toMatchObject([{ state: 'ready' }, { state: 'ready' }]);
    expect(await ask()).toMatchObject({ content: answers.plain });
    await install();
    expect(requests).toHaveLength(1);
  });

  test('keeps nothing of another file, and says so in the listing', async () => {
    const { service, availability, install, directory } = await startSetup(
      good(Buffer.from(model).fill(1, 500_000, 500_100)),
    );
    await using _ = service;
    expect(await install()).toMatchObject([{ message: expect.stringContaining('SHA-256') as string }]);
    expect((await readdir(directory)).filter((name) => name.endsWith('.gguf'))).toEqual([]);
    const { code, reason } = availability();
    expect(code).toBe('model-file-missing');
    expect(reason).toMatch(/SHA-256.*npm run setup -- chat` to try again/);
  });
});
