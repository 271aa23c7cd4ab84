/** Another Parlance as the provider: two real services, where one forwards the recording to the other. */
import { expect, onTestFinished, test } from 'vitest';
import { startLocalService, upload } from '../../support/local-service.ts';
import { describeWith } from '../../support/programs.ts';
import { startTestService } from '../../support/service.ts';
import { toneWav } from '../../support/tone-model.ts';

describeWith(['ffmpeg', 'whisper-cli'], 'another Parlance', () => {
  async function startPair(apiKey: string) {
    const behind = await startLocalService({ env: { API_KEYS: 'right' } });
    onTestFinished(() => behind[Symbol.asyncDispose]());
    const instance = `use: hosted-stt, baseUrl: ${behind.url}/api/v1, path: /transcribe, apiKey: ${apiKey}`;
    const front = await startTestService({
      config: `engines: { other: { ${instance}, models: [{ id: there, remoteId: local }] } }`,
    });
    onTestFinished(() => front[Symbol.asyncDispose]());
    return front;
  }

  test('transcribes with its language and duration', async () => {
    const front = await startPair('right');
    const response = await upload(front, toneWav({ words: ['kilo', 'golf'], language: 'fr', rate: 16_000 }));
    expect(await response.json()).toEqual({ text: 'kilo golf', language: 'fr', duration_ms: 1750, model: 'there' });
  });

  test('errors for the recording, the language and the key are mapped', async () => {
    const front = await startPair('right');
    const nonsense = await upload(front, Buffer.from('RIFF\0\0\0\0WAVEfmt nonsense'));
    expect(await nonsense.json()).toMatchObject({ status: 422 });
    const strange = await upload(front, toneWav({ words: [], rate: 16_000 }), { fields: { language: 'xx' } });
    expect(await strange.json()).toMatchObject({ status: 422 });
    const stranger = await startPair('wrong');
    const response = await upload(stranger, toneWav({ words: [], rate: 16_000 }));
    expect(await response.json()).toMatchObject({ status: 502, code: 'provider-auth-failed' });
  });
});
