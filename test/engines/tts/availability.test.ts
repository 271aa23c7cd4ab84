/** Listing and availability of hosted speech models, which never cost a request; invalid options. */
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { answers, resets, startProvider } from '../../support/provider.ts';
import { startTestService } from '../../support/service.ts';
import { mp3, speak, speaks, startTts, type Tts } from './support.ts';

async function list({ service }: Pick<Tts, 'service'>) {
  const { data } = (await (await service.api('/tts/models')).json()) as { data: Record<string, unknown>[] };
  return data;
}

describe('a model is', () => {
  test('listed with its voices, without a request to the provider', async () => {
    const models = '[{ id: a, name: A, voices: [alloy, { id: j, name: Jonas, language: de }] }, b]';
    const tts = await startTts(undefined, { models });
    const ready = {
      engine: 'voice',
      local: true, // it is on a loopback address
      available: true,
      code: 'ready',
      reason: 'Ready.',
      supports: ['speed', 'instructions'],
    };
    const voices = [
      { id: 'alloy', name: 'alloy', language: null },
      { id: 'j', name: 'Jonas', language: 'de' },
    ];
    expect(await list(tts)).toEqual([
      { id: 'a', name: 'A', ...ready, voices, default_voice: 'alloy' },
      { id: 'b', name: 'b', ...ready, voices: [], default_voice: null },
    ]);
    expect(tts.provider.calls).toEqual([]);
  });

  test('key-missing without a key, and nothing is sent', async () => {
    const tts = await startTts(undefined, { apiKey: '${NO_SUCH_KEY}' });
    expect(await list(tts)).toMatchObject([{ available: false, code: 'key-missing' }]);
    expect((await tts.speak()).problem).toMatchObject({ status: 503, code: 'model-unavailable' });
    expect(tts.provider.connections).toBe(0);
  });

  test('key-refused until a call succeeds', async () => {
    const tts = await startTts(answers(401, ''));
    await tts.speak();
    expect(await list(tts)).toMatchObject([{ available: false, code: 'key-refused' }]);
    tts.provider.behave(speaks(mp3));
    await tts.speak();
    await tts.service.service.registry.recheck();
    expect(await list(tts)).toMatchObject([{ available: true, code: 'ready' }]);
  });

  test('upstream-unreachable for a minute, but still available', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const tts = await startTts(resets);
    await tts.speak();
    expect(await list(tts)).toMatchObject([{ available: true, code: 'upstream-unreachable' }]);
    vi.setSystemTime(Date.now() + 61_000);
    await tts.service.service.registry.recheck();
    expect(await list(tts)).toMatchObject([{ available: true, code: 'ready' }]);
  });
});

test('two instances each receive only their own requests, with their own key', async () => {
  const [one, two] = [await startProvider(), await startProvider()];
  one.behave(speaks(mp3));
  two.behave(answers(500, ''));
  const config = `
    engines:
      one: { use: tts, baseUrl: "${one.baseUrl}", apiKey: key-of-one, models: [a] }
      two: { use: tts, baseUrl: "${two.baseUrl}", apiKey: key-of-two, models: [b], local: false }`;
  const service = await startTestService({ config });
  onTestFinished(() => service[Symbol.asyncDispose]());
  expect(await list({ service })).toMatchObject([
    { id: 'a', engine: 'one', local: true },
    { id: 'b', engine: 'two', local: false },
  ]);
  expect((await speak(service, { model: 'b' })).problem.code).toBe('provider-error');
  expect([one.calls.length, two.calls.length]).toEqual([0, 1]);
  expect(two.calls[0]?.headers.authorization).toBe('Bearer key-of-two');
  expect((await speak(service, { model: 'a' })).status).toBe(200);
  expect(one.calls[0]?.headers.authorization).toBe('Bearer key-of-one');
});

describe('startup fails', () => {
  test.each([
    ['models: []', 'engines.cloud.models'],
    ['models: [{ name: x }]', '"id" is missing'],
    ['models: [a], response: json', 'known: baseUrl, apiKey, headers, timeout, local, idleTimeout, api, path, models'],
    ['models: [{ id: a, formats: [midi] }]', 'pcm, wav, mp3, opus, ogg, flac, aac'],
    ['models: [{ id: a, voices: [{ id: x, language: english }] }]', 'language'],
    ['models: [{ id: a, voices: [x, y], defaultVoice: z }]', 'has the voices x, y, not the defaultVoice "z"'],
    ['models: [a], api: elevenlabs', 'openai, mistral, parlance'],
    ['models: [a], idleTimeout: 0', 'engines.cloud.idleTimeout'],
  ])('for invalid options: %s', async (engine, message) => {
    const config = `engines: { cloud: { use: tts, baseUrl: "http://127.0.0.1:1/v1", ${engine} } }`;
    await expect(startTestService({ config })).rejects.toThrow(message);
  });
});
