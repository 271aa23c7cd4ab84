/** Against aimock, a third-party mock provider. */
import { LLMock, type ErrorResponse, type TranscriptionResponse } from '@copilotkit/aimock';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startTestService, type TestService } from '../../support/service.ts';
import { callsOf, recordingMs } from './support.ts';

let mock: LLMock;
let service: TestService;
beforeAll(async () => {
  mock = new LLMock({ port: 0, host: '127.0.0.1' });
  await mock.start();
  const models = '[whisper-1, { id: plain, remoteId: gpt-transcribe, responseFormat: json }]';
  const config = `engines: { cloud: { use: hosted-stt, baseUrl: "${mock.url}/v1", apiKey: mock, models: ${models} } }`;
  service = await startTestService({ config });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await mock.stop();
});
afterEach(() => {
  mock.reset();
});

const transcribe = (fields?: Record<string, string>) => callsOf(service).transcribe(fields);

describe('with aimock', () => {
  const transcripts: readonly {
    name: string;
    model: string;
    given: TranscriptionResponse['transcription'];
    expected: object;
  }[] = [
    {
      name: 'verbose_json',
      model: 'whisper-1',
      given: { text: 'Guten Tag.', language: 'german', duration: 2.5 },
      expected: { text: 'Guten Tag.', language: 'de', duration_ms: 2500, model: 'whisper-1' },
    },
    {
      name: 'json with languages',
      model: 'plain',
      given: { text: 'Bonjour.', languages: [{ code: 'fr' }] },
      expected: { text: 'Bonjour.', language: 'fr', duration_ms: recordingMs, model: 'plain' },
    },
    {
      name: 'silence',
      model: 'whisper-1',
      given: { text: '' },
      expected: { text: '', language: null, duration_ms: recordingMs, model: 'whisper-1' },
    },
  ];

  test.each(transcripts)('$name is parsed', async ({ model, given, expected }) => {
    mock.onTranscription({ transcription: given });
    const { status, body } = await transcribe({ model });
    expect({ status, body }).toEqual({ status: 200, body: expected });
  });

  const failures: readonly { status: number; error: ErrorResponse['error']; code: string }[] = [
    { status: 401, error: { message: 'bad key', type: 'invalid_request_error' }, code: 'provider-auth-failed' },
    { status: 429, error: { message: 'slow down', type: 'rate_limit_error' }, code: 'provider-rate-limited' },
    { status: 429, error: { message: 'no', type: 'insufficient_quota' }, code: 'provider-quota-exhausted' },
    { status: 500, error: { message: 'oops', type: 'server_error' }, code: 'provider-error' },
  ];

  test.each(failures)('$status ($error.type) is $code', async ({ status, error, code }) => {
    mock.on({ endpoint: 'transcription' }, { error, status });
    expect((await transcribe()).problem.code).toBe(code);
  });

  test('an unknown model is provider-misconfigured', async () => {
    expect((await transcribe()).problem.code).toBe('provider-misconfigured');
  });
});
