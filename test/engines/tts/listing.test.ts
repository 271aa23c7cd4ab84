/** The listing of hosted speech models. test/engines/providers has their availability. */
import { expect, onTestFinished, test } from 'vitest';
import { answers, startProvider } from '../../support/provider.ts';
import { startTestService } from '../../support/service.ts';
import { mp3, speak, speaks, startTts, type Tts } from './support.ts';

async function list({ service }: Pick<Tts, 'service'>) {
  const { data } = (await (await service.api('/tts/models')).json()) as { data: Record<string, unknown>[] };
  return data;
}

test('a model is listed with its voices, without a request to the provider', async () => {
  const models = '[{ id: a, name: A, voices: [alloy, { id: j, name: Jonas, language: de }] }, b]';
  const tts = await startTts(undefined, { models });
  const ready = {
    engine: 'cloud',
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
