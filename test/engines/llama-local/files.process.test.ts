/** Models that are missing, broken or exchanged: said by the listing, and no one else is kept from anything. */
import { execFileSync } from 'node:child_process';
import { copyFile, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { answers } from '../../support/chat-model.ts';
import { startTestService } from '../../support/service.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { hasLibrary, startLocalChat, type LocalChat } from './support.ts';

const entryOf = async ({ service }: LocalChat) => {
  await service.service.registry.recheck();
  const listing = (await (await service.api('/models')).json()) as { data: { code: string; reason: string }[] };
  return listing.data[0];
};

describe.skipIf(!hasLibrary)('a model', () => {
  test.each([
    ['that is missing', (file: string) => rm(file), /chat\.gguf does not exist/],
    ['that is cut', (file: string) => truncate(file, 500_000), /chat\.gguf is not usable: it is cut/],
    ['of another kind', (file: string) => writeFile(file, 'RIFF'.repeat(100)), /is not usable: it is not a GGUF model/],
    ['that is a pipe', async (file: string) => (await rm(file), execFileSync('mkfifo', [file])), /not a regular file/],
  ])('%s is refused before it is loaded, until it is whole', async (_what, spoil, reason) => {
    const chat = await startLocalChat();
    await copyFile(chat.file, `${chat.file}.good`);
    await spoil(chat.file);
    const entry = await entryOf(chat);
    expect(entry).toMatchObject({ code: 'model-file-missing' });
    expect(entry?.reason).toMatch(reason);
    expect(await chat.ask('Hello.')).toMatchObject({ status: 503, code: 'model-unavailable' });
    expect(chat.programs()).toEqual([]);
    await rm(chat.file, { force: true });
    await rename(`${chat.file}.good`, chat.file);
    await expect.poll(() => entryOf(chat)).toMatchObject({ code: 'ready' });
  });

  test('that the library cannot load fails its call, and says nothing of the machine', async () => {
    const chat = await startLocalChat();
    const bytes = await readFile(chat.file);
    bytes.write('lloma', bytes.indexOf('llama')); // an architecture that no one knows
    await writeFile(chat.file, bytes);
    const answer = await chat.ask('Hello.');
    expect(answer).toMatchObject({ status: 500, code: 'engine-failed' });
    expect(answer.detail).not.toContain(chat.file);
    expect(await (await fetch(`${chat.service.url}/healthz`)).text()).toContain('ok');
  });

  test('is served when it was exchanged', async () => {
    const chat = await startLocalChat();
    expect(await chat.ask('Hello.')).toMatchObject({ content: answers.plain });
    const [program] = chat.programs();
    await copyFile(chat.file, `${chat.file}.new`);
    await rename(`${chat.file}.new`, chat.file);
    expect(await chat.ask('Hello.')).toMatchObject({ content: answers.plain });
    expect(chat.programs()).not.toContain(program);
  });
});

test('a runtime of the settings without the library is named by the listing', async () => {
  const runtime = await temporaryDirectory();
  const config = JSON.stringify({ engines: { mind: { use: 'llama-local', runtime } } });
  await using service = await startTestService({ config });
  const listing = (await (await service.api('/models')).json()) as { data: object[] };
  const reason = `node-llama-cpp not found: ${runtime} has no node_modules/node-llama-cpp.`;
  expect(listing.data).toMatchObject([{ id: 'qwen3-0.6b', local: true, available: false, code: 'program-missing', reason }]); // prettier-ignore
});
