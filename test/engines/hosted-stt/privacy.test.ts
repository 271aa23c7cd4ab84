/** A recording is sent only to the provider of the requested model. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { answers, startProvider, type Behavior } from '../../support/provider.ts';
import { startTestService } from '../../support/service.ts';
import { callsOf, fineAnswer } from './support.ts';

/** Stands in for the local engine: counts calls, and fails on request. */
const localEngine = `
  let calls = 0;
  export default {
    contract: 1, name: 'near', capability: 'transcription',
    options: { type: 'object', properties: { fails: { type: 'boolean' } }, additionalProperties: false },
    create: ({ fails }) => ({
      models: [{ id: 'local', local: true }],
      async transcribe() {
        calls += 1;
        if (fails) throw new Error('the local engine is broken');
        return { text: 'transcribed here ' + calls, language: null };
      },
    }),
  };`;

async function start(localOption = '') {
  const providers = [await startProvider(), await startProvider()] as const;
  const [one, two] = providers;
  for (const provider of providers) provider.behave(answers(200, fineAnswer));
  const config = `
    engines:
      near: { use: ./near.mjs${localOption} }
      one: { use: hosted-stt, baseUrl: "${one.baseUrl}", apiKey: key-of-one, models: [whisper-one], local: false }
      two: { use: hosted-stt, baseUrl: "${two.baseUrl}", apiKey: key-of-two, models: [whisper-two], local: false }`;
  const service = await startTestService({ config, files: { 'near.mjs': localEngine } });
  onTestFinished(() => service[Symbol.asyncDispose]());
  return { ...callsOf(service), service, one, two };
}

describe('beside a local model and another provider', () => {
  test('a request for the local model, or for no model, reaches no provider', async () => {
    const { transcribe, one, two } = await start();
    expect((await transcribe({ model: 'local' })).body).toMatchObject({ text: 'transcribed here 1', model: 'local' });
    expect((await transcribe()).body).toMatchObject({ text: 'transcribed here 2', model: 'local' });
    expect([one.connections, two.connections]).toEqual([0, 0]);
  });

  test('there is no fallback when the local model fails', async () => {
    const { transcribe, one, two } = await start(', fails: true');
    expect((await transcribe({ model: 'local' })).status).toBe(500);
    expect([one.connections, two.connections]).toEqual([0, 0]);
  });

  test('listings and availability probes reach no provider', async () => {
    const { probe, service, one, two } = await start();
    for (const model of [undefined, 'local', 'whisper-one', 'whisper-two']) await probe(model);
    const { data } = (await (await service.api('/transcribe/models')).json()) as { data: object[] };
    expect(data.map((entry) => entry as { id: string; local: boolean })).toMatchObject([
      { id: 'local', engine: 'near', local: true },
      { id: 'whisper-one', engine: 'one', local: false },
      { id: 'whisper-two', engine: 'two', local: false },
    ]);
    expect([one.connections, two.connections]).toEqual([0, 0]);
  });

  test('each provider receives only its own requests, with its own key', async () => {
    const { transcribe, one, two } = await start();
    await transcribe({ model: 'whisper-two' });
    expect([one.connections, two.calls.length]).toEqual([0, 1]);
    expect(two.calls[0]?.headers.authorization).toBe('Bearer key-of-two');
    await transcribe({ model: 'whisper-one' });
    expect(one.calls[0]?.headers.authorization).toBe('Bearer key-of-one');
    expect(two.calls).toHaveLength(1);
  });

  test('there is no fallback when a provider fails', async () => {
    const { transcribe, one, two } = await start();
    one.behave(answers(500, ''));
    expect((await transcribe({ model: 'whisper-one' })).problem.code).toBe('provider-error');
    expect(two.connections).toBe(0);
  });
});

describe('on this machine', () => {
  const startBeside = async (tags: Behavior, place = (baseUrl: string) => `baseUrl: "${baseUrl}"`) => {
    const [hosted, own] = [await startProvider(), await startProvider({ tags })];
    for (const provider of [hosted, own]) provider.behave(answers(200, fineAnswer));
    const config = `
      engines:
        hosted: { use: hosted-stt, baseUrl: "${hosted.baseUrl}", models: [whisper-hosted], local: false }
        own: { use: hosted-stt, ${place(own.baseUrl)}, models: [gemma] }`;
    const service = await startTestService({ config });
    onTestFinished(() => service[Symbol.asyncDispose]());
    const list = async () => {
      const { data, default: chosen } = (await (await service.api('/transcribe/models')).json()) as Listed;
      return [...data.map(({ local }) => local), chosen];
    };
    return { ...callsOf(service), list, hosted };
  };
  interface Listed {
    readonly data: readonly { readonly local: boolean }[];
    readonly default: string;
  }

  test.each([
    ['with /v1', (url: string) => `baseUrl: "${url}"`],
    ['without /v1', (url: string) => `baseUrl: "${new URL(url).origin}", path: /v1/audio/transcriptions`],
  ])('a cloud model of Ollama is not local, for a base URL %s', async (_what, place) => {
    const models = [{ name: 'gemma:latest', remote_host: 'https://ollama.com:443' }];
    const { list } = await startBeside(answers(200, { models }), place);
    await expect.poll(list).toEqual([false, false, 'whisper-hosted']);
  });

  test('a model is not local while that is unknown, but no hosted one becomes the default', async () => {
    const { list, transcribe, hosted } = await startBeside(answers(500, 'No.'));
    expect(await list()).toEqual([false, false, 'gemma']);
    expect((await transcribe()).body).toMatchObject({ model: 'gemma' });
    expect(hosted.connections).toBe(0);
  });
});
