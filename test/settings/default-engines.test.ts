/** The engines of a service that has no settings file. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { loadSettings, type Environment } from '../../src/settings/load.ts';
import { startTestService } from '../support/service.ts';
import { answers, startProvider } from '../support/provider.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { callsOf } from '../engines/hosted-stt/support.ts';

async function enginesOf(env: Environment) {
  return loadSettings({ WHISPER_MODEL: '/models/base.bin', ...env }, await temporaryDirectory()).engines;
}

const local = { use: 'whisper-cli', models: [{ id: 'local', file: '/models/base.bin' }] };
const TRANSCRIBE_MODEL = 'whisper-large-v3';

describe('without a settings file', () => {
  it.each<{ name: string; env: Environment }>([
    { name: 'nothing is set', env: {} },
    {
      name: 'a provider is named, but no model of it',
      env: { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' },
    },
    { name: 'the model is the local one', env: { OPENAI_API_KEY: 'k', TRANSCRIBE_MODEL: 'local' } },
    { name: 'a model is named, but no provider', env: { TRANSCRIBE_MODEL } },
    { name: 'the provider’s variables are empty', env: { TRANSCRIBE_MODEL, OPENAI_API_KEY: '', OPENAI_BASE_URL: '' } },
  ])('the local entry is alone when $name', async ({ env }) => {
    expect(await enginesOf(env)).toEqual({ local });
  });

  it.each<{ name: string; env: Environment; expected: object }>([
    {
      name: 'a key means OpenAI itself',
      env: { OPENAI_API_KEY: 'k' },
      expected: { baseUrl: 'https://api.openai.com/v1', apiKey: 'k' },
    },
    {
      name: 'an address alone means that no key is needed',
      env: { OPENAI_BASE_URL: 'http://127.0.0.1:8000/v1' },
      expected: { baseUrl: 'http://127.0.0.1:8000/v1' },
    },
    {
      name: 'both mean both',
      env: { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'http://127.0.0.1:8000/v1' },
      expected: { baseUrl: 'http://127.0.0.1:8000/v1', apiKey: 'k' },
    },
  ])('$name, and TRANSCRIBE_MODEL is the one model', async ({ env, expected }) => {
    const openai = { use: 'hosted-stt', ...expected, models: [TRANSCRIBE_MODEL] };
    expect(await enginesOf({ TRANSCRIBE_MODEL, ...env })).toEqual({ local, openai });
  });

  it('TRANSCRIBE_MODEL is the default, and the local model is still there', async () => {
    const provider = await startProvider();
    provider.behave(answers(200, { text: 'hello' }));
    const env = { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: provider.baseUrl, TRANSCRIBE_MODEL };
    const service = await startTestService({ env });
    onTestFinished(() => service[Symbol.asyncDispose]());
    expect(await (await service.api('/transcribe/models')).json()).toMatchObject({
      data: [
        { id: 'local', engine: 'local', local: true },
        { id: TRANSCRIBE_MODEL, engine: 'openai', local: false, code: 'ready' },
      ],
      default: TRANSCRIBE_MODEL,
    });
    expect((await callsOf(service).transcribe()).body).toMatchObject({ text: 'hello', model: TRANSCRIBE_MODEL });
  });

  it('a model that nobody serves stops the start', async () => {
    await expect(startTestService({ env: { TRANSCRIBE_MODEL } })).rejects.toThrow(
      `"${TRANSCRIBE_MODEL}" is served by no engine`,
    );
  });
});
