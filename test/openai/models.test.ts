/** The lists of models and voices under /v1. */
import OpenAI, { NotFoundError } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApi } from '../support/http.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { engines } from './support/engines.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService(engines);
});
afterAll(() => service[Symbol.asyncDispose]());

const get = async (path: string) => (await createApi(service.url).get(path)).body;
const sdk = () => new OpenAI({ baseURL: `${service.url}/v1`, apiKey: 'none', maxRetries: 0 });

describe('GET /v1/models', () => {
  it('lists every model once, chat models first, and whisper-1', async () => {
    const { data } = (await get('/v1/models')) as { data: { id: string; capabilities: string[] }[] };
    expect(data.map(({ id, capabilities }) => [id, ...capabilities])).toEqual([
      ['talker', 'chat'],
      ['deep/thinker', 'chat'],
      ['both', 'chat', 'speech'],
      ['local', 'transcription'],
      ['whisper-1', 'transcription'],
      ['tts-1', 'speech'],
      ['voice', 'speech'],
    ]);
  });

  it('names the owner, except one that clients treat as another server', async () => {
    const { data } = (await get('/v1/models')) as { data: { id: string }[] };
    expect(data.find(({ id }) => id === 'local')).toEqual({
      id: 'local',
      object: 'model',
      created: expect.any(Number) as number,
      owned_by: 'ears',
      name: 'Local ears',
      capabilities: ['transcription'],
    });
    expect(data.find(({ id }) => id === 'talker')).toMatchObject({ owned_by: 'llama-cpp', name: 'talker' });
  });

  it('is read by the openai SDK', async () => {
    const ids: string[] = [];
    for await (const { id, created } of sdk().models.list()) {
      expect(Number.isInteger(created)).toBe(true);
      ids.push(id);
    }
    expect(ids).toContain('deep/thinker');
  });

  it('does not list whisper-1 without transcription', async () => {
    await using silent = await startTestService({ ...engines, config: 'engines: {}\n' });
    expect((await createApi(silent.url).get('/v1/models')).body).toEqual({ object: 'list', data: [] });
  });
});

describe('GET /v1/models/{id}', () => {
  it.each(['/v1/models/deep/thinker', '/v1/models/deep%2Fthinker'])('takes an id with a slash: %s', async (path) => {
    expect(await get(path)).toMatchObject({ id: 'deep/thinker', object: 'model' });
  });

  it('is found by the openai SDK', async () => {
    expect(await sdk().models.retrieve('deep/thinker')).toMatchObject({ id: 'deep/thinker' });
  });

  it.each([
    ['gpt-transcribe', 'Local ears', 'transcription'],
    ['gpt-4o-transcribe-2025-12-15', 'Local ears', 'transcription'],
    ['gpt-4o-mini-tts', 'tts-1', 'speech'],
  ])('has the alias %s of a default model, as requests do', async (id, name, capability) => {
    expect(await sdk().models.retrieve(id)).toMatchObject({ id, name, capabilities: [capability] });
  });

  it('has an alias of the settings, unless its model is unknown or switched off', async () => {
    const aliases =
      'compatAliases: { gpt-4o: deep/thinker, both: voice, whisper-1: mouth/gone, gpt-transcribe: local }';
    const config = `${engines.config}\n${aliases}\n`;
    await using mapped = await startTestService({ ...engines, config, env: { TRANSCRIBE_ENABLED: 'false' } });
    const retrieve = async (id: string) => (await createApi(mapped.url).get(`/v1/models/${id}`)).body;
    expect(await retrieve('gpt-4o')).toMatchObject({ id: 'gpt-4o', name: 'deep/thinker', capabilities: ['chat'] });
    expect(await retrieve('both')).toMatchObject({ id: 'both', name: 'both', capabilities: ['chat', 'speech'] });
    for (const id of ['whisper-1', 'gpt-transcribe']) {
      expect(await retrieve(id)).toMatchObject({ error: { code: 'model_not_found' } });
    }
  });

  it('is model_not_found for an unknown id', async () => {
    const failed = await sdk()
      .models.retrieve('absent')
      .catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(NotFoundError);
    expect(failed).toMatchObject({ code: 'model_not_found', param: 'model', requestID: expect.any(String) as string });
  });
});

describe('GET /v1/audio/models and /v1/audio/voices', () => {
  it('list the speech models', async () => {
    expect(await get('/v1/audio/models')).toEqual({
      object: 'list',
      models: [
        { id: 'tts-1', name: 'tts-1' },
        { id: 'voice', name: 'voice' },
        { id: 'both', name: 'both' },
      ],
    });
  });

  it('list each voice once', async () => {
    expect(await get('/v1/audio/voices')).toEqual({
      object: 'list',
      voices: [
        { id: 'en', name: 'English' },
        { id: 'de', name: 'German' },
      ],
    });
  });

  it('list the voices of one model', async () => {
    expect(await get('/v1/audio/voices?model=voice')).toMatchObject({ voices: [{ id: 'de' }] });
    expect(await get('/v1/audio/voices?model=')).toMatchObject({ voices: [{ id: 'en' }, { id: 'de' }] });
  });

  it.each([
    ['absent', 404, 'model_not_found'],
    ['talker', 400, 'invalid_request'],
  ])('refuse the model %s with %i', async (model, status, code) => {
    const answer = await createApi(service.url).get(`/v1/audio/voices?model=${model}`);
    expect(answer.status).toBe(status);
    expect(answer.error).toMatchObject({ code, param: 'model' });
  });
});
