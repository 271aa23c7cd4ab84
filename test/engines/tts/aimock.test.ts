/** Against aimock, a third-party mock provider. */
import { LLMock, type ErrorResponse } from '@copilotkit/aimock';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startTestService, type TestService } from '../../support/service.ts';
import { mp3, pcm, speak, wav } from './support.ts';
import { wavSamples } from '../../support/wav-samples.ts';

let mock: LLMock;
let service: TestService;
beforeAll(async () => {
  mock = new LLMock({ port: 0, host: '127.0.0.1' });
  await mock.start();
  const models = '[gpt-4o-mini-tts, { id: short, remoteId: orpheus, maxCharacters: 50, formats: [wav] }]';
  const config = `engines: { cloud: { use: tts, baseUrl: "${mock.url}/v1", apiKey: mock, models: ${models} } }`;
  service = await startTestService({ config });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await mock.stop();
});
afterEach(() => {
  mock.reset();
});

describe('with aimock', () => {
  test('mp3 is streamed through', async () => {
    mock.onSpeech('Good morning.', { audio: mp3.toString('base64'), format: 'mp3' });
    const { status, bytes } = await speak(service, { voice_id: 'alloy' });
    expect(status).toBe(200);
    expect(bytes.equals(mp3)).toBe(true);
  });

  test('a long text is assembled from its pieces', async () => {
    mock.onSpeech(/First/, { audio: wav(pcm(0.5)).toString('base64'), format: 'wav' });
    mock.onSpeech(/Then/, { audio: wav(pcm(0.5, { amplitude: 99 })).toString('base64'), format: 'wav' });
    const text = 'First comes one sentence that is rather long. Then comes a second one.';
    const { bytes } = await speak(service, { model: 'short', text, format: 'wav' });
    expect(wavSamples(bytes).equals(Buffer.concat([pcm(0.5), pcm(0.5, { amplitude: 99 })]))).toBe(true);
  });

  const failures: readonly { status: number; error: ErrorResponse['error']; code: string }[] = [
    { status: 400, error: { message: 'Invalid voice', type: 'invalid_request_error' }, code: 'voice-not-supported' },
    { status: 401, error: { message: 'bad key', type: 'invalid_request_error' }, code: 'provider-auth-failed' },
    { status: 429, error: { message: 'slow down', type: 'rate_limit_error' }, code: 'provider-rate-limited' },
    { status: 429, error: { message: 'no', type: 'insufficient_quota' }, code: 'provider-quota-exhausted' },
    { status: 500, error: { message: 'oops', type: 'server_error' }, code: 'provider-error' },
  ];

  test.each(failures)('$status ($error.type) is $code', async ({ status, error, code }) => {
    mock.on({ endpoint: 'speech' }, { error, status });
    expect((await speak(service, { voice_id: 'x' })).problem.code).toBe(code);
  });

  test('an unknown model is provider-misconfigured', async () => {
    expect((await speak(service)).problem.code).toBe('provider-misconfigured');
  });
});
