/** Ids that apps hard-code, and what they mean. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Capability } from '../../engines/contract/index.ts';
import { openAiAudioModels } from '../../lib/openai-audio-models.ts';
import { resolveModel, resolveVoice, voiceAliases } from '../../src/openai/aliases.ts';
import { RegistryError } from '../../src/engine-host/registry/registry-error.ts';
import { createApi } from '../support/http.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { engines } from './support/engines.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService(engines);
});
afterAll(() => service[Symbol.asyncDispose]());

const resolve = (capability: Capability, named?: string | null, aliases: Readonly<Record<string, string>> = {}) => {
  const compatAliases = new Map(Object.entries(aliases));
  const { id } = resolveModel({ registry: service.service.registry, compatAliases }, capability, named);
  return id;
};

describe('the model of a request', () => {
  it.each([undefined, null, ''])('is the default without a name: %j', (named) => {
    expect(resolve('chat', named)).toBe('talker');
  });

  it('is the entry with that id', () => {
    expect(resolve('chat', 'deep/thinker')).toBe('deep/thinker');
    expect(resolve('speech', 'both')).toBe('both');
  });

  it.each(openAiAudioModels)('$id is the default of $capability, also with a date', ({ id, capability }) => {
    const theDefault = { transcription: 'local', speech: 'tts-1' }[capability];
    expect(resolve(capability, id)).toBe(theDefault);
    expect(resolve(capability, `${id}-2025-12-15`)).toBe(theDefault);
  });

  it('is an entry of that id before an alias', () => {
    expect(resolve('speech', 'tts-1', { 'tts-1': 'voice' })).toBe('tts-1');
  });

  it('is the one from the settings', () => {
    expect(resolve('speech', 'tts-1-hd', { 'tts-1-hd': 'voice' })).toBe('voice');
    expect(resolve('speech', 'tts-1-hd-2027-01-01', { 'tts-1-hd': 'voice' })).toBe('voice');
    expect(resolve('chat', 'gpt-4o', { 'gpt-4o': 'deep/thinker' })).toBe('deep/thinker');
  });

  it('is not the default when the configured entry no longer exists', () => {
    const resolving = () => resolve('transcription', 'whisper-1', { 'whisper-1': 'gone' });
    expect(resolving).toThrow(expect.objectContaining({ code: 'unknown-model' }));
  });

  it.each<[Capability, string]>([
    ['chat', 'gpt-4o'],
    ['transcription', 'absent'],
    ['transcription', 'gpt-transcribe-mini'],
    ['transcription', 'gpt-transcribe-2027'],
  ])('is unknown otherwise: %s %s', (capability, named) => {
    expect(() => resolve(capability, named)).toThrow(expect.objectContaining({ code: 'unknown-model' }));
  });

  it.each<[Capability, string]>([
    ['chat', 'voice'],
    ['chat', 'whisper-1'],
    ['transcription', 'tts-1'],
    ['speech', 'local'],
  ])('of another kind is refused: %s %s', (capability, named) => {
    const refused = { code: 'invalid-request', message: `${named} is not a ${capability} model.` };
    expect(() => resolve(capability, named)).toThrow(expect.objectContaining(refused));
  });
});

describe('the voice of a request', () => {
  it('is the default for a name of OpenAI that the model does not have', () => {
    const [model] = service.service.registry.of('speech').all;
    for (const name of voiceAliases) expect(resolveVoice(model!, name)).toBeUndefined();
    expect(resolveVoice(model!, 'de')).toBe('de');
    expect(resolveVoice(model!, 'absent')).toBe('absent');
    const own = { ...model!, entry: { ...model!.entry, voices: [{ id: 'alloy', name: 'Alloy', language: null }] } };
    expect(resolveVoice(own, 'alloy')).toBe('alloy');
  });
});

describe('compatAliases', () => {
  const withAliases = (aliases: string) =>
    startTestService({ ...engines, config: `${engines.config}\ncompatAliases: ${aliases}\n` });

  it('sets the entry that whisper-1 in the list means', async () => {
    const more = engines.config.replace('[{ id: local,', '[{ id: other, local: true }, { id: local,');
    await using mapped = await startTestService({
      ...engines,
      config: `${more}\ncompatAliases: { whisper-1: local }\n`,
    });
    expect((await createApi(mapped.url).get('/v1/models/whisper-1')).body).toMatchObject({ name: 'Local ears' });
  });

  it('of an entry that no engine serves prevents the start and lists the known entries', async () => {
    const failed = await withAliases('{ whisper-1: loc }').catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(RegistryError);
    expect((failed as Error).message).toMatch(/^compatAliases\.whisper-1: no engine serves the model "loc"; .*local/);
  });
});

it('GET /v1/models lists no transcription that is switched off', async () => {
  await using silent = await startTestService({ ...engines, env: { TRANSCRIBE_ENABLED: 'false' } });
  const { body } = await createApi(silent.url).get('/v1/models');
  const ids = (body as { data: { id: string }[] }).data.map(({ id }) => id);
  expect(ids).toEqual(['talker', 'deep/thinker', 'both', 'tts-1', 'voice']);
});
