/** Transcription responses in the formats that providers have been observed to send. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { answers, readForm, says } from '../../support/provider.ts';
import { openHosted, recording, recordingMs, startHosted, type Hosted } from './support.ts';

const usage = { type: 'duration', seconds: 2 };
const tokens = {
  type: 'tokens',
  total_tokens: 25,
  input_tokens: 15,
  input_token_details: { text_tokens: 0, audio_tokens: 15 },
  output_tokens: 10,
};

/** Without a duration of the provider, it is that of the samples. */
const dialects: readonly (readonly [
  name: string,
  answer: object,
  text: string,
  language: string | null,
  duration_ms?: number,
])[] = [
  [
    'OpenAI whisper-1, verbose_json',
    {
      ...{ task: 'transcribe', language: 'german', duration: 8.470000267028809, text: 'Guten Tag.', usage },
      segments: [{ id: 0, seek: 0, start: 0, end: 3.32, text: ' Guten Tag.', tokens: [50364], avg_logprob: -0.28 }],
    },
    'Guten Tag.',
    'de',
    8470,
  ],
  [
    'OpenAI gpt-4o-transcribe, json',
    { text: 'Imagine the wildest idea.', usage: tokens },
    'Imagine the wildest idea.',
    null,
  ],
  [
    'OpenAI gpt-transcribe, json with languages',
    { text: 'Bonjour.', languages: [{ code: 'fr' }, { code: 'en' }], usage: tokens },
    'Bonjour.',
    'fr',
  ],
  [
    'Groq, verbose_json',
    {
      task: 'transcribe',
      language: 'English',
      duration: 1.52,
      text: ' Hello there.',
      segments: [{ id: 0, start: 0, end: 1.5, text: ' Hello there.', no_speech_prob: 0.01 }],
      x_groq: { id: 'req_01j' },
    },
    'Hello there.',
    'en',
    1520,
  ],
  [
    'speaches, verbose_json',
    { task: 'transcribe', language: 'en', duration: 2.2, text: 'Hi.', words: null, segments: [] },
    'Hi.',
    'en',
    2200,
  ],
  [
    'vLLM, the duration as a string',
    { text: 'Ciao.', language: 'it', duration: '3.25', segments: null, words: null },
    'Ciao.',
    'it',
    3250,
  ],
  ['vLLM, json with usage', { text: 'Ciao.', usage }, 'Ciao.', null],
  [
    'LocalAI, segments without a language',
    {
      segments: [{ id: 0, start: 0, end: 1500000000, text: 'Hola.', tokens: [1] }],
      text: 'Hola.',
      language: '',
      duration: 0,
    },
    'Hola.',
    null,
  ],
  ['Ollama, text only', { text: 'Olá.' }, 'Olá.', null],
  [
    'Mistral',
    {
      model: 'voxtral-mini-2507',
      text: 'Bom dia.',
      language: 'pt',
      segments: [],
      usage: { prompt_audio_seconds: 203, prompt_tokens: 4, total_tokens: 3264, completion_tokens: 635 },
    },
    'Bom dia.',
    'pt',
  ],
  ['a language tag with a region', { text: 'Servus.', language: 'de-AT', duration: 1 }, 'Servus.', 'de', 1000],
  ['a language without a two-letter code', { text: 'Aloha.', language: 'hawaiian', duration: 1 }, 'Aloha.', null, 1000],
  ['silence with a language', { text: '', language: 'english', duration: 4 }, '', null, 4000],
  ['white space as silence', { text: ' \n', language: 'en', duration: 4 }, '', null, 4000],
  [
    'control characters and NUL',
    { text: 'a\0b\tc\u0007 "\\d', language: 'en', duration: 1 },
    'ab\tc\u0007 "\\d',
    'en',
    1000,
  ],
  ['half of a surrogate pair', { text: 'a\ud83d b', language: 'en', duration: 1 }, 'a\ufffd b', 'en', 1000],
  [
    'several lines, joined into one string',
    { text: 'One.\nTwo. \r\n\n Three.\u2028Four.\n', language: 'en', duration: 1 },
    'One. Two. Three. Four.',
    'en',
    1000,
  ],
  [
    'several lines of a language without spaces',
    { text: '请坐。\n明天见。\n', language: 'zh', duration: 1 },
    '请坐。明天见。',
    'zh',
    1000,
  ],
  [
    'invalid fields beside the text',
    { text: 'ok', language: 7, languages: [null], duration: 'soon', usage: 'none' },
    'ok',
    null,
  ],
];

const rows = dialects.map(([name, answer, text, language, duration_ms = recordingMs]) => ({
  ...{ name, answer, expected: { text, language, duration_ms } },
}));

describe('parses the response of', () => {
  let hosted: Hosted & AsyncDisposable;
  beforeAll(async () => {
    hosted = await openHosted();
  });
  afterAll(() => hosted[Symbol.asyncDispose]());

  test.each(rows)('$name', async ({ answer, expected }) => {
    hosted.provider.behave(answers(200, answer));
    // The detected language is returned, whatever the client requested.
    const { status, body } = await hosted.transcribe({ language: 'sv' });
    expect({ status, body }).toEqual({ status: 200, body: { ...expected, model: 'remote' } });
  });

  test('a server that sends its JSON in chunks, with a byte order mark', async () => {
    const body = Buffer.from('\ufeff{"text":"größe","duration":1}');
    const pieces = [...body].map((byte) => `1\r\n${String.fromCharCode(byte)}\r\n`);
    hosted.provider.behave(says('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', ...pieces, '0\r\n\r\n'));
    expect((await hosted.transcribe()).body).toMatchObject({ text: 'größe', duration_ms: 1000 });
  });
});

describe('the languages of gpt-transcribe', () => {
  const fine = answers(200, { text: 'ok', languages: [{ code: 'cy' }] });
  const sent = async (hosted: Hosted, call: number) => {
    const form = (await hosted.provider.calls[call]!.body).toString('latin1');
    return [...form.matchAll(/name="(languages?(?:\[\])?)"\r\n\r\n(\w+)/g)].map(
      ([, name, value]) => `${name}=${value}`,
    );
  };

  test('are sent in languages[], also the language of a call', async () => {
    const hosted = await startHosted(fine, {
      models: '[gpt-transcribe, { id: own, supports: [languages], languages: [de] }]',
    });
    await hosted.transcribe({ model: 'gpt-transcribe', language: 'de' });
    const form = new FormData();
    form.set('file', new File([new Uint8Array(recording)], 'recording'));
    for (const code of ['de', 'en']) form.append('languages[]', code);
    for (const model of ['gpt-transcribe', 'own']) {
      form.set('model', model);
      await fetch(`${hosted.service.url}/v1/audio/transcriptions`, { method: 'POST', body: form });
    }
    const calls = await Promise.all(hosted.provider.calls.map((_call, index) => sent(hosted, index)));
    expect(calls).toEqual([['languages[]=de'], ['languages[]=de', 'languages[]=en'], ['languages[]=de']]);
  });

  test.each([
    ['as the field', { message: 'Invalid value.', param: 'languages[0]' }],
    ['in the message', { message: "The languages 'cy' are not supported by this model.", param: null }],
    ['as a language', { message: "Invalid language 'cy'." }],
  ])('are left out once the provider has blamed them: %s', async (_how, error) => {
    const hosted = await startHosted(answers(400, { error }), { models: '[gpt-transcribe]' });
    hosted.provider.behave(answers(400, { error }), fine, answers(400, { error }), fine);
    for (const first of [0, 2]) {
      const { status, body } = await hosted.transcribe({ model: 'gpt-transcribe', language: 'cy' });
      expect({ status, body }).toMatchObject({ status: 200, body: { text: 'ok', language: 'cy' } });
      expect(await sent(hosted, first)).toEqual(['languages[]=cy']);
      expect(await sent(hosted, first + 1)).toEqual([]);
    }
    const warnings = hosted.service.log.filter(({ msg }) => msg.includes('rejects a language'));
    expect(warnings).toHaveLength(1);
  });
});

describe('the response format', () => {
  let hosted: Hosted & AsyncDisposable;
  beforeAll(async () => {
    const fixed = '{ id: fixed, responseFormat: verbose_json }, { id: plain, responseFormat: json }';
    hosted = await openHosted({ models: `[whisper, openai, vllm, pydantic, broken, stubborn, ${fixed}]` });
  });
  afterAll(() => hosted[Symbol.asyncDispose]());

  /** Requested formats, call by call, since the test started. */
  let before = 0;
  beforeEach(() => {
    before = hosted.provider.calls.length;
  });
  const asked = async () =>
    Promise.all(
      hosted.provider.calls.slice(before).map(async (call) => String((await readForm(call)).response_format?.content)),
    );

  const fine = answers(200, { text: 'ok', duration: 1 });
  const refusals = {
    openai: answers(400, {
      error: {
        message:
          "response_format 'verbose_json' is not compatible with model 'gpt-4o-transcribe'. Use 'json' or 'text' instead.",
        type: 'invalid_request_error',
        param: 'response_format',
        code: 'unsupported_value',
      },
    }),
    vllm: answers(400, {
      object: 'error',
      message: 'Currently only support response_format `text` or `json`',
      type: 'BadRequestError',
      param: null,
      code: 400,
    }),
    pydantic: answers(422, {
      detail: [{ type: 'literal_error', loc: ['body', 'response_format'], msg: "Input should be 'json' or 'text'" }],
    }),
  };

  test('is verbose_json where the model supports it', async () => {
    hosted.provider.behave(fine);
    await hosted.transcribe({ model: 'whisper' });
    await hosted.transcribe({ model: 'whisper' });
    expect(await asked()).toEqual(['verbose_json', 'verbose_json']);
  });

  test.each(Object.entries(refusals))(
    'is learned once from the refusal of %s, recording and all',
    async (model, refusal) => {
      hosted.provider.behave(refusal, fine);
      expect((await hosted.transcribe({ model })).body).toMatchObject({ text: 'ok' });
      expect((await hosted.transcribe({ model })).status).toBe(200);
      expect(await asked()).toEqual(['verbose_json', 'json', 'json']);
      const [first, second] = await Promise.all(hosted.provider.calls.slice(before).map(readForm));
      expect(second?.file?.content.equals(first!.file!.content)).toBe(true);
    },
  );

  test('does not fall back after an unrelated error', async () => {
    hosted.provider.behave(answers(400, { error: { message: 'Audio file might be corrupted or unsupported' } }));
    expect((await hosted.transcribe({ model: 'broken' })).problem.code).toBe('recording-undecodable');
    hosted.provider.behave(fine);
    await hosted.transcribe({ model: 'broken' });
    expect(await asked()).toEqual(['verbose_json', 'verbose_json']);
  });

  test('falls back only once', async () => {
    hosted.provider.behave(refusals.openai);
    expect((await hosted.transcribe({ model: 'stubborn' })).problem.code).toBe('provider-misconfigured');
    expect(await asked()).toEqual(['verbose_json', 'json']);
  });

  test('is the configured one, if any', async () => {
    hosted.provider.behave(refusals.openai);
    expect((await hosted.transcribe({ model: 'fixed' })).problem.code).toBe('provider-misconfigured');
    hosted.provider.behave(fine);
    await hosted.transcribe({ model: 'plain' });
    expect(await asked()).toEqual(['verbose_json', 'json']);
  });
});
