/** Availability of the models of a provider, which never costs a request to it, for every engine that has one. */
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { answers, resets, type Behavior } from '../../support/provider.ts';
import { startTestService } from '../../support/service.ts';
import { families } from './families.ts';
import { startHosted, type HostedOptions } from './support.ts';

describe.each(families)('a model of $use is', ({ use, list, fine, ask: askService }) => {
  async function start(behavior: Behavior, options?: HostedOptions) {
    const { service, provider, recheck } = await startHosted(use, behavior, options);
    const codes = async () => {
      const { data } = (await (await service.api(list)).json()) as { data: { available: boolean; code: string }[] };
      return data.map(({ available, code }) => (available ? code : `unavailable: ${code}`));
    };
    return { provider, codes, recheck, ask: (model = 'remote') => askService(service, { model }) };
  }

  test('key-missing without a key, and nothing is sent', async () => {
    const { provider, codes, ask } = await start(fine, { apiKey: '${NO_SUCH_KEY}' });
    expect(await codes()).toEqual(['unavailable: key-missing']);
    expect((await ask()).problem).toMatchObject({ status: 503, code: 'model-unavailable' });
    expect(provider.calls).toEqual([]);
  });

  test('key-refused with all others after a 401, until a call succeeds', async () => {
    const { provider, codes, recheck, ask } = await start(answers(401, ''), { models: '[one, two]' });
    await ask('one');
    expect(await codes()).toEqual(['unavailable: key-refused', 'unavailable: key-refused']);
    provider.behave(answers(500, ''));
    await ask('one');
    expect(await codes()).toEqual(['unavailable: key-refused', 'unavailable: key-refused']);
    provider.behave(fine);
    expect((await ask('two')).status).toBe(200);
    await recheck();
    expect(await codes()).toEqual(['ready', 'ready']);
  });

  test('key-refused alone after a 403', async () => {
    const { codes, ask } = await start(answers(403, ''), { models: '[one, two]' });
    await ask('one');
    expect(await codes()).toEqual(['unavailable: key-refused', 'ready']);
  });

  test('upstream-unreachable for a minute or until any response, but still available', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const { provider, codes, recheck, ask } = await start(resets);
    await ask();
    expect(await codes()).toEqual(['upstream-unreachable']);
    for (const [ms, code] of [
      [59_000, 'upstream-unreachable'],
      [2_000, 'ready'],
    ] as const) {
      vi.setSystemTime(Date.now() + ms);
      await recheck();
      expect(await codes()).toEqual([code]);
    }
    await ask();
    expect(await codes()).toEqual(['upstream-unreachable']);
    provider.behave(answers(400, ''));
    await ask();
    await recheck();
    expect(await codes()).toEqual(['ready']);
  });

  test('ready after failures that are temporary', async () => {
    const { provider, codes, recheck, ask } = await start(fine);
    for (const failure of [answers(429, ''), answers(500, ''), answers(503, '', { 'retry-after': '30' })]) {
      provider.behave(failure);
      expect((await ask()).status).toBeGreaterThan(400);
      await recheck();
      expect(await codes()).toEqual(['ready']);
    }
  });
});

test.each([
  ['hosted-stt', 'models: []', 'engines.cloud.models'],
  ['hosted-stt', 'models: [{ name: x }]', '"id" is missing'],
  ['hosted-stt', 'models: [a], response: json', 'known: baseUrl, apiKey, headers, timeout, local, path, models'],
  ['hosted-stt', 'models: [{ id: a, responseFormat: srt }]', 'auto, json, verbose_json'],
  ['hosted-stt', 'models: [a], timeout: 0', 'engines.cloud.timeout'],
  ['hosted-stt', 'models: [a], headers: { content-length: "3" }', 'engines.cloud.headers'],
  ['hosted-stt', 'models: [a, a]', 'must be unique'],
  ['hosted-stt', 'models: [a], baseUrl: "ftp://127.0.0.1/v1"', 'engines.cloud.baseUrl'],
  ['hosted-stt', 'models: [a], baseUrl: "http://a:99999/v1"', 'engines.cloud.baseUrl'],
  ['tts', 'models: []', 'engines.cloud.models'],
  ['tts', 'models: [{ name: x }]', '"id" is missing'],
  [
    'tts',
    'models: [a], response: json',
    'known: baseUrl, apiKey, headers, timeout, local, idleTimeout, api, path, models',
  ],
  ['tts', 'models: [{ id: a, formats: [midi] }]', 'pcm, wav, mp3, opus, ogg, flac, aac'],
  ['tts', 'models: [{ id: a, voices: [{ id: x, language: english }] }]', 'language'],
  ['tts', 'models: [{ id: a, voices: [x, y], defaultVoice: z }]', 'has the voices x, y, not the defaultVoice "z"'],
  ['tts', 'models: [a], api: elevenlabs', 'openai, mistral, parlance'],
  ['tts', 'models: [a], idleTimeout: 0', 'engines.cloud.idleTimeout'],
])('%s does not start with %s', async (use, options, message) => {
  const baseUrl = options.includes('baseUrl') ? '' : 'baseUrl: "http://127.0.0.1:1/v1",';
  const config = `engines: { cloud: { use: ${use}, ${baseUrl} ${options} } }`;
  await expect(startTestService({ config })).rejects.toThrow(message);
});
