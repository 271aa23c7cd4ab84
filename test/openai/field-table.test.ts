/** The table of the reference says what really becomes of each field, for a model without features. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fieldTable, type FieldRow } from '../../src/openai/field-table.ts';
import { parameters } from '../../src/transcription/parameters.ts';
import { createApi, type Answer } from '../support/http.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { errorOf, fields, file, sendForm, translations } from './support/audio.ts';

const engine = (name: string, verb: string, supports: readonly string[] = []) => `
export default {
  contract: 1,
  name: '${name}',
  capability: '${name}',
  options: { type: 'object', properties: {} },
  create: () => ({
    models: [{ id: 'plain ${name}', local: true, supports: ${JSON.stringify(supports)} }],
    ${verb}
  }),
};
`;

const modules = {
  chat: engine(
    'chat',
    `async *complete() { yield { type: 'step-started', step: 0 }; yield { type: 'content-delta', step: 0, delta: 'Hi.' }; yield { type: 'completed', result: { content: 'Hi.', finishReason: 'stop', reasoning: null, usage: null } }; },`,
  ),
  transcription: engine('transcription', `transcribe: async () => ({ text: 'Hi.', language: 'en' }),`),
  speech: engine(
    'speech',
    `synthesize: async () => ({ mediaType: 'audio/wav', audio: (async function* () { yield new Uint8Array(44); })() }),`,
  ),
};

let service: TestService;
beforeAll(async () => {
  service = await startTestService({
    config: 'engines: { a: { use: ./chat.mjs }, b: { use: ./transcription.mjs }, c: { use: ./speech.mjs } }\n',
    files: Object.fromEntries(Object.entries(modules).map(([name, text]) => [`${name}.mjs`, text])),
  });
});
afterAll(() => service[Symbol.asyncDispose]());

const tool = { type: 'function', name: 'x', function: { name: 'x' } };
const samples: Readonly<Record<string, unknown>> = {
  tools: [tool],
  response_format: { type: 'json_object' },
  'text.format': { type: 'json_object' },
  'reasoning.effort': 'low',
  'text.verbosity': 'low',
  ...{ seed: 1, frequency_penalty: 1, presence_penalty: 1, logit_bias: {}, parallel_tool_calls: false },
  ...{
    n: 2,
    logprobs: true,
    top_logprobs: 1,
    modalities: ['audio'],
    audio: {},
    web_search_options: {},
    prediction: {},
  },
  ...{ functions: [{ name: 'x' }], function_call: { name: 'x' }, metadata: {}, store: true, truncation: 'auto' },
  ...{ stream_options: {}, client_metadata: {}, include: ['logprobs'], background: true, max_tool_calls: 1 },
  ...{ speed: 2, prompt: {}, reasoning_effort: 'low', verbosity: 'low', service_tier: 'auto' },
};

const texts: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  ...Object.fromEntries(
    parameters.flatMap(([, { openai, sample = 'x' }]) =>
      openai ? [[openai.field, [sample].flat().map((value) => [openai.field, String(value)] as const)]] : [],
    ),
  ),
  response_format: [['response_format', 'srt']],
  timestamp_granularities: [
    ['timestamp_granularities', 'word'],
    ['response_format', 'verbose_json'],
  ],
  max_line_width: [
    ['max_line_width', '20'],
    ['response_format', 'srt'],
  ],
  max_line_count: [
    ['max_line_count', '2'],
    ['response_format', 'srt'],
  ],
  known_speaker_names: [
    ['known_speaker_names', 'A'],
    ['known_speaker_references', 'data:,x'],
    ['response_format', 'diarized_json'],
  ],
  known_speaker_references: [
    ['known_speaker_names', 'A'],
    ['known_speaker_references', 'data:,x'],
    ['response_format', 'diarized_json'],
  ],
  diarize: [['diarize', 'true']],
  language: [['language', 'de']],
  stream: [['stream', 'true']],
  model: [],
};

const post = (path: string, body: object) => createApi(service.url).post(path, body);

/** `a.b` is the field `b` of `a`. */
function bodyWith(name: string): object {
  const [outer = '', inner] = name.split('.');
  const value = samples[name] ?? 'x';
  return { [outer]: inner === undefined ? value : { [inner]: value } };
}

const senders: Readonly<Record<keyof typeof fieldTable, (name: string) => Promise<Answer>>> = {
  createTranscription: (name) => sendForm(service, [...fields(...(texts[name] ?? [[name, 'x']])), file()]),
  createTranslation: (name) =>
    sendForm(service, [...fields(...(texts[name] ?? [[name, 'x']])), file()], {}, translations),
  createSpeech: (name) => post('/v1/audio/speech', { input: 'Hi.', response_format: 'wav', ...bodyWith(name) }),
  createChatCompletion: (name) =>
    post('/v1/chat/completions', { messages: [{ role: 'user', content: 'Hi.' }], ...bodyWith(name) }),
  createResponse: (name) => post('/v1/responses', { input: 'Hi.', ...bodyWith(name) }),
};

describe.each(Object.entries(fieldTable))('%s', (operation, rows: Readonly<Record<string, FieldRow>>) => {
  const send = senders[operation as keyof typeof fieldTable];
  const isOutcome =
    (outcome: string) =>
    ([, row]: readonly [string, FieldRow]) =>
      [row].flat()[0]?.startsWith(outcome);
  // No translation succeeds with a model that has no features.
  const ignored = operation === 'createTranslation' ? [] : Object.entries(rows).filter(isOutcome('ignored'));

  test.skipIf(ignored.length === 0).each(ignored)('ignores %s, and names it', async (name) => {
    const answer = await send(name);
    expect(answer.status, answer.text).toBe(200);
    const named = (answer.headers.get('x-parlance-ignored') ?? '').split(', ');
    expect(named).toEqual([name === 'hotwords' ? 'keywords' : name]);
  });

  test.each(Object.entries(rows).filter(isOutcome('refused')))('refuses %s', async (name) => {
    const answer = await send(name);
    expect(answer.status, answer.text).toBe(400);
    expect(errorOf(answer).code).toMatch(/^unsupported_/);
  });
});
