/** Against aimock, a third-party mock provider: what it says is parsed, and its failures are classified. */
import { LLMock, type ErrorResponse, type TranscriptionResponse } from '@copilotkit/aimock';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startTestService, type TestService } from '../../support/service.ts';
import { wavSamples } from '../../support/wav-samples.ts';
import { callsOf, recordingMs } from '../hosted-stt/support.ts';
import { mp3, pcm, speak, wav } from '../tts/support.ts';
import { poster } from './support.ts';

let mock: LLMock;
let service: TestService;
beforeAll(async () => {
  mock = new LLMock({ port: 0, host: '127.0.0.1' });
  await mock.start();
  const at = `baseUrl: "${mock.url}/v1", apiKey: mock`;
  service = await startTestService({
    config: `
engines:
  stt: { use: hosted-stt, ${at}, models: [whisper-1, { id: plain, remoteId: gpt-transcribe, responseFormat: json }] }
  tts: { use: tts, ${at}, models: [gpt-4o-mini-tts, { id: short, remoteId: orpheus, maxCharacters: 50, formats: [wav] }] }
  chat: { use: llm-agent, ${at}, models: [{ id: chat, remoteId: gpt-4o }] }
  responses: { use: llm-agent, ${at}, api: responses, models: [{ id: responses, remoteId: gpt-4o }] }`,
  });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await mock.stop();
});
afterEach(() => void mock.reset());

const transcribe = (fields?: Record<string, string>) => callsOf(service).transcribe(fields);
const chat = poster('/chat', { messages: [{ role: 'user', content: 'What is the capital of France?' }] });

describe('a transcript', () => {
  const transcripts: readonly {
    name: string;
    model: string;
    given: TranscriptionResponse['transcription'];
    expected: object;
  }[] = [
    {
      ...{ name: 'verbose_json', model: 'whisper-1' },
      given: { text: 'Guten Tag.', language: 'german', duration: 2.5 },
      expected: { text: 'Guten Tag.', language: 'de', duration_ms: 2500 },
    },
    {
      ...{ name: 'json with languages', model: 'plain' },
      given: { text: 'Bonjour.', languages: [{ code: 'fr' }] },
      expected: { text: 'Bonjour.', language: 'fr', duration_ms: recordingMs },
    },
    {
      ...{ name: 'silence', model: 'whisper-1', given: { text: '' } },
      expected: { text: '', language: null, duration_ms: recordingMs },
    },
  ];

  test.each(transcripts)('$name is parsed', async ({ model, given, expected }) => {
    mock.onTranscription({ transcription: given });
    const { status, body } = await transcribe({ model });
    expect({ status, body }).toEqual({ status: 200, body: { ...expected, model } });
  });
});

describe('speech', () => {
  test('in mp3 is streamed through', async () => {
    mock.onSpeech('Good morning.', { audio: mp3.toString('base64'), format: 'mp3' });
    const { status, bytes } = await speak(service, { voice_id: 'alloy' });
    expect(status).toBe(200);
    expect(bytes.equals(mp3)).toBe(true);
  });

  test('of a long text is assembled from its pieces', async () => {
    mock.onSpeech(/First/, { audio: wav(pcm(0.5)).toString('base64'), format: 'wav' });
    mock.onSpeech(/Then/, { audio: wav(pcm(0.5, { amplitude: 99 })).toString('base64'), format: 'wav' });
    const text = 'First comes one sentence that is rather long. Then comes a second one.';
    const { bytes } = await speak(service, { model: 'short', text, format: 'wav' });
    expect(wavSamples(bytes).equals(Buffer.concat([pcm(0.5), pcm(0.5, { amplitude: 99 })]))).toBe(true);
  });
});

const kinds = [
  { kind: 'transcription', ask: () => transcribe() },
  { kind: 'speech', ask: () => speak(service, { voice_id: 'x' }) },
  { kind: 'chat', ask: () => chat(service, { model: 'chat' }) },
  { kind: 'responses', ask: () => chat(service, { model: 'responses' }) },
];

const failures: readonly { status: number; error: ErrorResponse['error']; code: string; only?: RegExp }[] = [
  { status: 401, error: { message: 'bad key', type: 'invalid_request_error' }, code: 'provider-auth-failed' },
  { status: 429, error: { message: 'slow down', type: 'rate_limit_error' }, code: 'provider-rate-limited' },
  { status: 429, error: { message: 'no', type: 'insufficient_quota' }, code: 'provider-quota-exhausted' },
  { status: 500, error: { message: 'oops', type: 'server_error' }, code: 'provider-error' },
  {
    ...{ status: 400, code: 'voice-not-supported', only: /speech/ },
    error: { message: 'Invalid voice', type: 'invalid_request_error' },
  },
  {
    ...{ status: 400, code: 'context-length-exceeded', only: /chat|responses/ },
    error: { message: 'no', code: 'context_length_exceeded' },
  },
];

describe.each(kinds)('a failure of $kind', ({ kind, ask }) => {
  test.each(failures.filter(({ only = /./ }) => only.test(kind)))(
    '$status ($error.type) is $code',
    async ({ status, error, code }) => {
      const endpoint = kind === 'responses' ? 'chat' : (kind as 'chat' | 'speech' | 'transcription');
      mock.on({ endpoint }, { error, status });
      expect((await ask()).problem.code).toBe(code);
    },
  );

  test('an unknown model is provider-misconfigured', async () => {
    expect((await ask()).problem.code).toBe('provider-misconfigured');
  });
});
