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

const here = {
  local: { use: 'whisper-cli', pulled: true, models: [{ id: 'local', file: '/models/base.bin' }] },
  stt: { use: 'sherpa-stt', pulled: true },
  voice: { use: 'sherpa-voice', pulled: true },
  espeak: { use: 'espeak' },
  llama: { use: 'llama-local', pulled: true, models: [{ id: 'local-chat', model: 'qwen3-0.6b' }] },
};
const ollama = { use: 'llm-agent', baseUrl: 'http://127.0.0.1:11434/v1' };
const llamaCpp = {
  'llama-cpp': { use: 'llm-agent', baseUrl: 'http://127.0.0.1:8080/v1' },
  'llama-server': { use: 'llm-agent', baseUrl: 'http://127.0.0.1:9931/v1' },
};
const TRANSCRIBE_MODEL = 'whisper-large-v3';

describe('without a settings file', () => {
  it.each<{ name: string; env: Environment }>([
    { name: 'nothing is set', env: {} },
    { name: 'models are named, but no provider', env: { TRANSCRIBE_MODEL, TTS_MODEL: 'tts-1' } },
    { name: 'the provider’s variables are empty', env: { TRANSCRIBE_MODEL, OPENAI_API_KEY: '', OPENAI_BASE_URL: '' } },
  ])('there is what this machine has when $name', async ({ env }) => {
    expect(await enginesOf(env)).toEqual({ ...here, ollama, ...llamaCpp });
  });

  it('TRANSCRIBE_VAD=off is an option of the local model', async () => {
    expect((await enginesOf({ TRANSCRIBE_VAD: 'auto' })).local).toEqual(here.local);
    expect((await enginesOf({ TRANSCRIBE_VAD: 'off' })).local).toEqual({ ...here.local, voiceActivity: 'off' });
  });

  it.each<{ model: string; models: object }>([
    { model: 'llama3.2', models: { models: ['llama3.2'], discover: true } },
    { model: 'ollama/llama3.2', models: {} },
    { model: 'llama-cpp/qwen3', models: {} },
    { model: 'llama-server/qwen3', models: {} },
  ])('CHAT_MODEL=$model is one of Ollama when nothing else is said', async ({ model, models }) => {
    expect(await enginesOf({ CHAT_MODEL: model })).toEqual({
      ...here,
      ollama: { ...ollama, ...models },
      ...llamaCpp,
    });
  });

  it.each<{ name: string; env: Environment; openai: object[] }>([
    { name: 'alone lists its chat models', env: {}, openai: [{ use: 'llm-agent' }] },
    {
      name: 'has no local models',
      env: { TRANSCRIBE_MODEL: 'local', TTS_MODEL: 'espeak' },
      openai: [{ use: 'llm-agent' }],
    },
    {
      name: 'serves the models that are named',
      env: { TRANSCRIBE_MODEL, CHAT_MODEL: 'gpt-5.2', TTS_MODEL: 'tts-2' },
      openai: [
        { use: 'hosted-stt', models: [TRANSCRIBE_MODEL] },
        { use: 'llm-agent', models: ['gpt-5.2'], discover: true },
        { use: 'tts', models: ['tts-2'] },
      ],
    },
    { name: 'finds one that it lists', env: { CHAT_MODEL: 'openai/gpt-5.2' }, openai: [{ use: 'llm-agent' }] },
  ])('a provider $name', async ({ env, openai }) => {
    const provider = { baseUrl: 'https://api.openai.com/v1', apiKey: 'k' };
    expect(await enginesOf({ OPENAI_API_KEY: 'k', ...env })).toEqual({
      ...here,
      openai: openai.map((instance) => ({ ...provider, ...instance })),
    });
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
    const openai = [
      { use: 'hosted-stt', ...expected, models: [TRANSCRIBE_MODEL] },
      { use: 'llm-agent', ...expected },
    ];
    expect(await enginesOf({ TRANSCRIBE_MODEL, ...env })).toEqual({ ...here, openai });
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
        { id: TRANSCRIBE_MODEL, engine: 'openai', local: true, code: 'ready' },
      ],
      default: TRANSCRIBE_MODEL,
    });
    expect((await callsOf(service).transcribe()).body).toMatchObject({ text: 'hello', model: TRANSCRIBE_MODEL });
  });

  it('a model that no engine serves prevents the start', async () => {
    await expect(startTestService({ env: { TRANSCRIBE_MODEL } })).rejects.toThrow(
      `no engine serves the transcription model "${TRANSCRIBE_MODEL}"`,
    );
  });
});
