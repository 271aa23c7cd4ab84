/** The requests of apps that are no npm packages, field by field as they send them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestService, type TestService } from '../support/service.ts';
import { calls, fields, file, scriptedTranscription, sendForm, type LoggedCall } from './support/audio.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService(scriptedTranscription);
});
afterAll(() => service[Symbol.asyncDispose]());

const text = 'Guten Morgen, Welt.';
const plain = { text, languages: [{ code: 'de' }], usage: { type: 'duration', seconds: 3 } };

interface Request {
  readonly app: string;
  readonly parts: Parameters<typeof sendForm>[1];
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
  readonly call?: Partial<LoggedCall>;
}

const requests: readonly Request[] = [
  {
    app: 'Open WebUI (aiohttp)',
    headers: { authorization: 'Bearer ', 'x-openwebui-user-name': 'Ada', accept: '*/*' },
    parts: [...fields(['model', 'whisper-1'], ['language', 'de']), file('b1946ac9-audio.mp3', 'audio/mpeg')],
    body: plain,
    call: { language: 'de' },
  },
  {
    app: 'Open WebUI, once more without the language',
    headers: { authorization: 'Bearer ' },
    parts: [...fields(['model', 'whisper-1']), file('b1946ac9-audio.mp3', 'audio/mpeg')],
    body: plain,
  },
  {
    app: 'LibreChat',
    headers: { authorization: 'Bearer undefined' },
    parts: [file('audio.webm', 'audio/webm'), ...fields(['model', 'whisper-1'])],
    body: plain,
  },
  {
    app: 'Home Assistant (openai_conversation)',
    headers: { 'user-agent': 'AsyncOpenAI/Python 2.8.0', 'x-stainless-lang': 'python' },
    parts: [
      ...fields(
        ['model', 'gpt-4o-mini-transcribe'],
        ['language', 'en'],
        ['prompt', 'The following conversation is a smart home user talking to Home Assistant.'],
        ['response_format', 'json'],
      ),
      file('a.wav', 'audio/wav'),
    ],
    body: plain,
    call: { language: 'en', prompt: 'The following conversation is a smart home user talking to Home Assistant.' },
  },
  {
    app: 'Home Assistant (OpenAI Whisper, HACS)',
    parts: [
      file('audio.wav', 'audio/wav'),
      ...fields(
        ['model', 'whisper-1'],
        ['language', 'de-DE'],
        ['prompt', ''],
        ['temperature', '0'],
        ['response_format', 'json'],
      ),
    ],
    body: plain,
    call: { language: 'de', temperature: 0 },
  },
  {
    app: 'wyoming_openai',
    headers: { authorization: 'Bearer ' },
    parts: [
      ...fields(['model', 'whisper-1'], ['prompt', 'Ada'], ['response_format', 'json'], ['temperature', '0.0']),
      file('recording.wav'),
    ],
    body: plain,
    call: { prompt: 'Ada', temperature: 0 },
  },
  {
    app: 'OpenWhispr',
    headers: {},
    parts: [file('audio.webm', 'audio/webm;codecs=opus'), ...fields(['language', 'de'], ['prompt', 'Ada, Grace'])],
    body: plain,
    call: { language: 'de', prompt: 'Ada, Grace' },
  },
  {
    app: 'Speakr',
    parts: [
      ...fields(
        ['model', 'whisper-1'],
        ['language', 'de'],
        ['prompt', 'Names: Ada.'],
        ['temperature', '0'],
        ['chunking_strategy', 'auto'],
      ),
      file('a.ogg'),
    ],
    body: plain,
    call: { language: 'de', prompt: 'Names: Ada.', temperature: 0 },
  },
  {
    app: 'TypeWhisper',
    headers: { 'user-agent': 'TypeWhisper/1.0 CFNetwork' },
    parts: [
      file('audio.wav', 'audio/wav'),
      ...fields(['model', 'full'], ['response_format', 'verbose_json'], ['language', 'de'], ['prompt', 'Ada']),
    ],
    body: {
      text,
      language: 'german',
      segments: [
        { start: 0, end: 0.9 },
        { start: 0.9, end: 2 },
      ],
    },
    call: { language: 'de', prompt: 'Ada', timestamps: ['segment'] },
  },
  {
    app: 'LiteLLM (openai/whisper-1)',
    headers: { 'x-stainless-lang': 'python' },
    parts: [...fields(['model', 'whisper-1'], ['response_format', 'verbose_json']), file('audio.mp3')],
    body: { text, duration: 2.099, task: 'transcribe' },
    call: { timestamps: ['segment'] },
  },
  {
    app: 'AI SDK (whisper-1)',
    headers: { 'user-agent': 'ai-sdk/openai/3.0.141' },
    parts: [
      ...fields(['model', 'whisper-1']),
      file('audio.wav', 'audio/wav'),
      ...fields(['response_format', 'verbose_json'], ['temperature', '0'], ['timestamp_granularities[]', 'segment']),
    ],
    body: { text, language: 'german', duration: 2.099 },
    call: { temperature: 0, timestamps: ['segment'] },
  },
];

describe('a request of', () => {
  test.each(requests)('$app', async ({ parts, headers, body, call }) => {
    const { status, body: answered } = await sendForm(service, parts, headers);
    expect({ status, answered }).toMatchObject({ status: 200, answered: body });
    expect(calls(service).at(-1)).toEqual({ model: 'full', ...call });
  });

  test('wyoming_openai with a stream reads the deltas', async () => {
    const { text: stream } = await sendForm(service, [
      ...fields(['model', 'full'], ['response_format', 'json'], ['stream', 'true']),
      file('recording.wav'),
    ]);
    const lines = stream.split('\n\n').filter((line) => line.startsWith('data: {'));
    const events = lines.map((line) => JSON.parse(line.slice(6)) as { type: string; delta?: string });
    const deltas = events.filter(({ type }) => type === 'transcript.text.delta');
    expect(deltas.map(({ delta }) => delta).join('')).toBe(text);
  });

  test('Speakr for speakers names the field that is refused', async () => {
    const { status, body } = await sendForm(service, [...fields(['diarize', 'true'], ['model', 'full']), file()]);
    expect({ status, body }).toMatchObject({ status: 400, body: { error: { param: 'diarize' } } });
  });
});
