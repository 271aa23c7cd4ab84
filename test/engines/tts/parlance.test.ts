/** Another Parlance as the provider: two real services, with a test provider behind the second. */
import { expect, onTestFinished, test } from 'vitest';
import { startTestService } from '../../support/service.ts';
import { bodyOf, mp3, pcm, speak, speaks, startTts } from './support.ts';

async function startPair(apiKey: string) {
  const behind = await startTts(speaks(mp3), {
    models: '[{ id: there, voices: [alloy, echo] }]',
    env: { API_KEYS: 'right' },
  });
  const instance = `use: tts, api: parlance, baseUrl: "${behind.service.url}/api/v1", apiKey: ${apiKey}`;
  const front = await startTestService({
    config: `engines: { other: { ${instance}, models: [{ id: here, remoteId: there }] } }`,
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
  expect((await speak(front, { format: 'wav' })).bytes.subarray(44).equals(pcm(0.5))).toBe(true);
  expect((await speak(front, { format: 'ogg' })).bytes.toString('latin1', 0, 4)).toBe('OggS');
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
