/** Another Parlance as the provider: two real services, with a test provider behind the second. */
import { expect, onTestFinished, test } from 'vitest';
import { startProvider } from '../../support/provider.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { bodyOf, mp3, pcm, speak, speaks, startTts, synthesize } from './support.ts';
import { wavSamples } from '../../support/wav-samples.ts';

async function startPair(apiKey: string, model = '{ id: here, remoteId: there }') {
  const behind = await startTts(speaks(mp3), {
    models: '[{ id: there, voices: [alloy, echo] }]',
    env: { API_KEYS: 'right' },
  });
  const instance = `use: tts, api: parlance, baseUrl: "${behind.service.url}/api/v1", apiKey: ${apiKey}`;
  const front = await startTestService({
    config: `engines: { other: { ${instance}, models: [${model}] } }`,
  });
  onTestFinished(() => front[Symbol.asyncDispose]());
  return { front, provider: behind.provider };
}

test('another Parlance synthesizes in the requested voice and format', async () => {
  const { front, provider } = await startPair('right');
  expect((await speak(front, { voice_id: 'echo' })).bytes.equals(mp3)).toBe(true);
  const asked = { model: 'there', input: 'Good morning.', voice: 'echo', response_format: 'mp3' };
  expect(await bodyOf(provider.calls[0])).toEqual(asked);
  provider.behave(speaks(pcm(0.5), 'audio/pcm'));
  expect(wavSamples((await speak(front, { format: 'wav' })).bytes).equals(pcm(0.5))).toBe(true);
  expect((await speak(front, { format: 'ogg' })).bytes.toString('latin1', 0, 4)).toBe('OggS');
  expect((await speak(front, { format: 'pcm' })).bytes.equals(pcm(0.5))).toBe(true);
});

test('another Parlance has its voices listed, unless the settings list them', async () => {
  const voicesOf = async (service: TestService) =>
    ((await (await service.api('/tts/models')).json()) as { data: { voices: { id: string }[] }[] }).data[0]?.voices;
  const { front, provider } = await startPair('right');
  expect(await voicesOf(front)).toEqual([
    { id: 'alloy', name: 'alloy', language: null },
    { id: 'echo', name: 'echo', language: null },
  ]);
  expect((await speak(front, { voice_id: 'nova' })).problem).toMatchObject({
    code: 'voice-not-supported',
    detail: 'The speech model "here" has no voice "nova"; available: alloy, echo.',
  });
  expect(provider.calls).toEqual([]);
  const { front: chosen } = await startPair('right', '{ id: here, remoteId: there, voices: [echo] }');
  expect(await voicesOf(chosen)).toEqual([{ id: 'echo', name: 'echo', language: null }]);
  const { front: stranger } = await startPair('wrong');
  expect(await voicesOf(stranger)).toEqual([]);
});

test('a model of another Parlance on this machine is local if it is local there', async () => {
  const localOf = async (service: TestService) =>
    ((await (await service.api('/tts/models')).json()) as { data: { local: boolean }[] }).data.map(
      ({ local }) => local,
    );
  const provider = await startProvider();
  const cloud = `{ use: tts, baseUrl: "${provider.baseUrl}", models: [{ id: there, voices: [alloy] }], local: false }`;
  const near = `{ use: tts, baseUrl: "${provider.baseUrl}", models: [{ id: near, voices: [alloy] }], local: true }`;
  await using behind = await startTestService({ config: `engines: { cloud: ${cloud}, near: ${near} }` });
  const models = '[{ id: one, remoteId: there, voices: [alloy] }, near, unlisted]';
  const other = `use: tts, api: parlance, baseUrl: "${behind.url}/api/v1", models: ${models}`;
  await using front = await startTestService({ config: `engines: { other: { ${other} } }` });
  await expect.poll(() => localOf(front)).toEqual([false, true, false]);
  await using vouched = await startTestService({ config: `engines: { other: { ${other}, local: true } }` });
  expect(await localOf(vouched)).toEqual([true, true, true]);
});

test('errors of another Parlance for the voice and the key are mapped', async () => {
  const { front } = await startPair('right');
  expect((await speak(front, { voice_id: 'nova' })).problem).toMatchObject({
    status: 422,
    code: 'voice-not-supported',
  });
  const { front: stranger } = await startPair('wrong');
  expect((await speak(stranger)).problem).toMatchObject({ status: 502, code: 'provider-auth-failed' });
});

test('another Parlance works under /v1, too, with speed and instructions', async () => {
  const behind = await startTts(speaks(mp3), { models: '[{ id: there, voices: [alloy, echo] }]' });
  const instance = `use: tts, baseUrl: "${behind.service.url}/v1", apiKey: none`;
  const model = '{ id: here, remoteId: there }';
  const front = await startTestService({ config: `engines: { other: { ${instance}, models: [${model}] } }` });
  onTestFinished(() => front[Symbol.asyncDispose]());
  const manner = { speed: 1.5, instructions: 'Shout.' };
  expect((await synthesize({ service: front }, { voice: 'echo', ...manner })).equals(mp3)).toBe(true);
  const asked = { model: 'there', input: 'Good morning.', voice: 'echo', response_format: 'mp3', ...manner };
  expect(await bodyOf(behind.provider.calls[0])).toEqual(asked);
  behind.provider.behave(speaks(pcm(0.5), 'audio/pcm'));
  expect(wavSamples((await speak(front, { format: 'wav' })).bytes).equals(pcm(0.5))).toBe(true);
  expect((await speak(front, { voice_id: 'absent' })).problem).toMatchObject({ code: 'voice-not-supported' });
});
