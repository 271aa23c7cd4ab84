/**
 * Local models by name, with the real programs: one call each gives local transcription, a neural voice and local chat.
 * A server of the test stands in for the download site, models made by hand for those of the catalog.
 */
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createClient } from '../../src/client/index.ts';
import { hasLibrary } from '../engines/llama-local/support.ts';
import { good, half, serve, status, type Answer } from '../engines/whisper-cli/support.ts';
import { standIns } from '../support/catalog.ts';
import { answers } from '../support/chat-model.ts';
import { upload } from '../support/local-service.ts';
import { findProgram } from '../support/programs.ts';
import { startTestService } from '../support/service.ts';
import { recognize } from '../support/tone-listener.ts';
import { toneWav } from '../support/tone-model.ts';
import { entriesOf } from '../support/temporary.ts';

vi.setConfig({ testTimeout: 120_000 });
const patience = { timeout: 60_000, interval: 50 };

const program = findProgram('whisper-cli');
const isReady = program !== undefined && hasLibrary;

/** The models that the settings name are not there. */
async function startSetup(answer?: Answer) {
  const files = await standIns();
  const found: Answer = (request, response) => {
    const file = files[request.url?.split('/').at(-1) ?? ''];
    return (file ? good(file) : status(404))(request, response);
  };
  const site = await serve(...(answer ? [answer, found] : [found]));
  const own = { mirror: site.url, pulled: true };
  const engines = {
    local: { use: 'whisper-cli', ...own, program, voiceActivity: 'off', models: [{ id: 'local', file: 'none.bin' }] },
    voice: { use: 'sherpa-voice', ...own },
    llama: { use: 'llama-local', ...own, models: [{ id: 'local-chat', file: 'none.gguf' }] },
  };
  const service = await startTestService({ config: JSON.stringify({ engines }) });
  onTestFinished(() => service[Symbol.asyncDispose]());
  const { preparations, ...client } = createClient({ baseUrl: service.url });
  const stateOf = async (id: string) => (await preparations.list()).data.find((one) => one.id === id);
  const models = join(service.dir, 'data', 'models');
  const pull = async (id: string) => {
    await preparations.start(id);
    await expect.poll(async () => (await stateOf(id))?.state, patience).toBe('ready');
  };
  return { service, client, preparations, site, files, stateOf, pull, models };
}

describe.skipIf(!isReady)('a model that is started by its name', () => {
  test('is served at once as local/NAME, and never as the default', async () => {
    const { service, client, preparations, pull, site } = await startSetup();
    const before = [await client.transcriptionModels(), await client.speechModels(), await client.chatModels()];
    expect(before.map(({ data }) => data.map(({ id }) => id))).toEqual([['local'], ['local-voice'], ['local-chat']]);
    expect(site.requests).toEqual([]);
    const needs = (await preparations.list()).data.map(({ id, memory_bytes: bytes }) => [id, bytes]);
    const known = expect.any(Number) as number;
    expect(Object.fromEntries(needs)).toMatchObject({ voice: 538_536_351, base: 395_837_440, chat: null, 'qwen3-0.6b': known }); // prettier-ignore

    await pull('small');
    const recording = toneWav({ words: ['alpha', 'kilo'], language: 'en', rate: 16_000 });
    const transcript = await upload(service, recording, { fields: { model: 'local/small' } });
    expect(await transcript.json()).toMatchObject({ text: 'alpha kilo', model: 'local/small' });

    await pull('es_ES-carlfm-x_low');
    const speech = await service.post('/tts', { text: 'yes no', model: 'local/es_ES-carlfm-x_low', format: 'wav' });
    expect(recognize(Buffer.from(await speech.arrayBuffer()))).toBe('yes no');

    await pull('qwen3-0.6b');
    const chat = { messages: [{ role: 'user' as const, content: 'Hello.' }], model: 'local/qwen3-0.6b' };
    expect((await client.chat(chat)).content).toBe(answers.plain);

    const after = [await client.transcriptionModels(), await client.speechModels(), await client.chatModels()];
    expect(after.map(({ data }) => data.map(({ id }) => id))).toEqual([
      ['local', 'local/small'],
      ['local-voice', 'local/es_ES-carlfm-x_low'],
      ['local-chat', 'local/qwen3-0.6b'],
    ]);
    expect(after.map((one) => one.default)).toEqual(before.map((one) => one.default));
  });

  test('shows its progress, stops, and resumes where it was', async () => {
    const slow: Answer = async (request, response) => {
      const { files } = await setup;
      return half(files['ggml-small.bin']!)(request, response);
    };
    const setup = startSetup(slow);
    const { preparations, stateOf, pull, site, files } = await setup;
    await preparations.start('small');
    await expect.poll(async () => (await stateOf('small'))?.progress ?? 0, patience).toBeGreaterThan(0.4);
    expect(await stateOf('small')).toMatchObject({ state: 'preparing', reason: /downloading Whisper small: \d+ %/ });
    expect(await preparations.stop('small')).toMatchObject({ state: 'missing', reason: /^Stopped/ });
    await pull('small');
    expect(site.requests.at(-1)?.headers.range).toBe(`bytes=${Math.floor(files['ggml-small.bin']!.length / 2)}-`);
  });

  test('says that a download is interrupted while it is tried again, and why it failed in the end', async () => {
    const { preparations, stateOf, models } = await startSetup(status(503));
    await preparations.start('small');
    await expect.poll(async () => (await stateOf('small'))?.reason, patience).toContain(', interrupted: the server answered 503'); // prettier-ignore
    await preparations.stop('small');
    await writeFile(join(models, 'ggml-small.bin.part'), ''); // as if nothing had come
    const gone = await startSetup(status(404));
    await gone.preparations.start('small');
    await expect.poll(() => gone.stateOf('small'), patience).toMatchObject({ state: 'failed', reason: /answered 404/ });
  });
});

describe.skipIf(!isReady)('a model that is removed', () => {
  const signal = new AbortController().signal;

  test('is unloaded first, and not listed any more', async () => {
    const { service, client, pull, models } = await startSetup();
    await pull('qwen3-0.6b');
    const chat = { messages: [{ role: 'user' as const, content: 'Hello.' }], model: 'local/qwen3-0.6b' };
    await client.chat(chat);
    await service.service.registry.assets.remove('qwen3-0.6b', signal);
    expect(await entriesOf(models)).toEqual([]);
    expect((await client.chatModels()).data.map(({ id }) => id)).toEqual(['local-chat']);
    await expect(client.chat(chat)).rejects.toMatchObject({ code: 'unknown-model' });
  });

  test('stays if the operator has put it there', async () => {
    const { service, client, pull, models, files } = await startSetup();
    const path = join(models, 'ggml-small.bin');
    await pull('es_ES-carlfm-x_low');
    await pull('small');
    await service.service.registry.assets.remove('small', signal);
    expect(existsSync(path)).toBe(false);
    await writeFile(path, files['ggml-small.bin']!);
    await service.service.registry.recheck();
    expect((await client.transcriptionModels()).data.map(({ id }) => id)).toContain('local/small');
    await expect(service.service.registry.assets.remove('small', signal)).rejects.toThrow(
      'was not downloaded by Parlance',
    );
    expect(existsSync(path)).toBe(true);
  });
});
