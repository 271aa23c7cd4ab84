/** Who answers on a machine without a settings file: local-chat where no other engine was found, once it is installed. */
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { hasLibrary } from '../engines/llama-local/support.ts';
import { answers, writeChatModel } from '../support/chat-model.ts';
import { startTestService, type TestServiceOptions } from '../support/service.ts';
import { temporaryDirectory } from '../support/temporary.ts';

/** Lists a model once the file `found` is there. */
const laterEngine = `
import { existsSync } from 'node:fs';
export default {
  contract: 1,
  name: 'later',
  capability: 'chat',
  options: { type: 'object', properties: { found: { type: 'string' } } },
  create: ({ found }, { publish }) => ({
    models: [],
    recheck: async () => publish(existsSync(found) ? [{ id: 'theirs', local: false }] : []),
    async *complete() {
      yield { type: 'step-started', step: 0 };
      yield { type: 'completed', result: { content: '', finishReason: 'stop', reasoning: null, usage: null } };
    },
  }),
};
`;

async function start(options: TestServiceOptions = {}) {
  const service = await startTestService(options);
  onTestFinished(() => service[Symbol.asyncDispose]());
  const listing = async () =>
    (await (await service.api('/models')).json()) as { default: string | null; data: object[] };
  const ask = async () => {
    const answer = await service.post('/chat', { messages: [{ role: 'user', content: 'Hello.' }] });
    return { status: answer.status, body: (await answer.json()) as object };
  };
  return { listing, ask, recheck: () => service.service.registry.recheck() };
}

const command = expect.stringMatching(
  /^(llama\.cpp|Qwen3 0\.6B) is not installed: run `npm run setup -- chat`\.$/,
) as string;

test('before its installation it is listed with the command that installs it, which a chat also returns', async () => {
  const { listing, ask } = await start();
  expect(await listing()).toMatchObject({
    default: 'local-chat',
    data: [
      {
        id: 'local-chat',
        name: 'Qwen3 0.6B',
        local: true,
        code: expect.stringMatching(/-missing$/) as string,
        reason: command,
      },
    ],
  });
  expect(await ask()).toMatchObject({ status: 503, body: { code: 'model-unavailable', detail: command } });
});

describe.skipIf(!hasLibrary)('once its model is there', () => {
  const model = async () => writeChatModel(join(await temporaryDirectory(), 'chat.gguf'));

  test('it is the default, and answers', async () => {
    const { listing, ask } = await start({ env: { CHAT_LOCAL_MODEL: await model() } });
    expect(await listing()).toMatchObject({ default: 'local-chat', data: [{ code: 'ready' }] });
    expect(await ask()).toMatchObject({ status: 200, body: { content: answers.plain, model: 'local-chat' } });
  });

  test('a provider comes before it', async () => {
    const env = { CHAT_LOCAL_MODEL: await model(), OPENAI_BASE_URL: 'http://127.0.0.1:9/v1', CHAT_MODEL: 'large' };
    const { listing } = await start({ env });
    expect(await listing()).toMatchObject({ default: 'large', data: [{ id: 'large' }, { id: 'local-chat' }] });
  });

  test('it stays the default when another one is found later', async () => {
    const found = join(await temporaryDirectory(), 'found');
    expect(existsSync(found)).toBe(false);
    const engines = {
      later: { use: './later.mjs', found },
      llama: { use: 'llama-local', models: [{ id: 'local-chat', file: await model() }] },
    };
    const { listing, ask, recheck } = await start({
      config: JSON.stringify({ engines }),
      files: { 'later.mjs': laterEngine },
    });
    expect(await listing()).toMatchObject({ default: 'local-chat', data: [{ id: 'local-chat' }] });
    await writeFile(found, '');
    await recheck();
    expect(await listing()).toMatchObject({ default: 'local-chat', data: [{ id: 'theirs' }, { id: 'local-chat' }] });
    expect(await ask()).toMatchObject({ body: { model: 'local-chat' } });
  });
});
