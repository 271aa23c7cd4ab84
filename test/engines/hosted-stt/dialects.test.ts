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

const dialects: readonly {
  readonly name: string;
  readonly answer: object;
  readonly expected: { readonly text: string; readonly language: string | null; readonly duration_ms: number };
}[] = [
  {
    name: 'OpenAI whisper-1, verbose_json',
    answer: {
      task: 'transcribe',
      language: 'german',
      duration: 8.470000267028809,
      text: 'Guten Tag.',
      segments: [
        {
          id: 0,
          seek: 0,
          start: 0,
          end: 3.32,
          text: ' Guten Tag.',
          tokens: [50364],
          temperature: 0,
          avg_logprob: -0.28,
        },
      ],
      usage,
    },
    expected: { text: 'Guten Tag.', language: 'de', duration_ms: 8470 },
  },
  {
    name: 'OpenAI gpt-4o-transcribe, json',
    answer: { text: 'Imagine the wildest idea.', usage: tokens },
    expected: { text: 'Imagine the wildest idea.', language: null, duration_ms: recordingMs },
  },
  {
    name: 'OpenAI gpt-transcribe, json with languages',
    answer: { text: 'Bonjour.', languages: [{ code: 'fr' }, { code: 'en' }], usage: tokens },
    expected: { text: 'Bonjour.', language: 'fr', duration_ms: recordingMs },
  },
  {
    name: 'Groq, verbose_json',
    answer: {
      task: 'transcribe',
      language: 'English',
      duration: 1.52,
      text: ' Hello there.',
      segments: [{ id: 0, start: 0, end: 1.5, text: ' Hello there.', no_speech_prob: 0.01 }],
      x_groq: { id: 'req_01j' },
    },
    expected: { text: 'Hello there.', language: 'en', duration_ms: 1520 },
  },
  {
    name: 'speaches, verbose_json',
    answer: { task: 'transcribe', language: 'en', duration: 2.2, text: 'Hi.', words: null, segments: [] },
    expected: { text: 'Hi.', language: 'en', duration_ms: 2200 },
  },
  {
    name: 'vLLM, the duration as a string',
    answer: { text: 'Ciao.', language: 'it', duration: '3.25', segments: null, words: null },
    expected: { text: 'Ciao.', language: 'it', duration_ms: 3250 },
  },
  {
    name: 'vLLM, json with usage',
    answer: { text: 'Ciao.', usage },
    expected: { text: 'Ciao.', language: null, duration_ms: recordingMs },
  },
  {
    name: 'LocalAI, segments without a language',
    answer: {
      segments: [{ id: 0, start: 0, end: 1500000000, text: 'Hola.', tokens: [1] }],
      text: 'Hola.',
      language: '',
      duration: 0,
    },
    expected: { text: 'Hola.', language: null, duration_ms: recordingMs },
  },
  {
    name: 'Ollama, text only',
    answer: { text: 'Olá.' },
    expected: { text: 'Olá.', language: null, duration_ms: recordingMs },
  },
  {
    name: 'Mistral',
    answer: {
      model: 'voxtral-mini-2507',
      text: 'Bom dia.',
      language: 'pt',
      segments: [],
      usage: { prompt_audio_seconds: 203, prompt_tokens: 4, total_tokens: 3264, completion_tokens: 635 },
    },
    expected: { text: 'Bom dia.', language: 'pt', duration_ms: recordingMs },
  },
  {
    name: 'a language tag with a region',
    answer: { text: 'Servus.', language: 'de-AT', duration: 1 },
    expected: { text: 'Servus.', language: 'de', duration_ms: 1000 },
  },
  {
    name: 'a language without a two-letter code',
    answer: { text: 'Aloha.', language: 'hawaiian', duration: 1 },
    expected: { text: 'Aloha.', language: null, duration_ms: 1000 },
  },
  {
    name: 'silence with a language',
    answer: { text: '', language: 'english', duration: 4 },
    expected: { text: '', language: null, duration_ms: 4000 },
  },
  {
    name: 'white space as silence',
    answer: { text: ' \n', language: 'en', duration: 4 },
    expected: { text: '', language: null, duration_ms: 4000 },
  },
  {
    name: 'control characters and NUL',
    answer: { text: 'a\0b\tc\u0007 "\\d', language: 'en', duration: 1 },
    expected: { text: 'ab\tc\u0007 "\\d', language: 'en', duration_ms: 1000 },
  },
  {
    name: 'half of a surrogate pair',
    answer: { text: 'a\ud83d b', language: 'en', duration: 1 },
    expected: { text: 'a\ufffd b', language: 'en', duration_ms: 1000 },
  },
  {
    name: 'several lines, joined into one string',
    answer: { text: 'One.\nTwo. \r\n\n Three.\u2028Four.\n', language: 'en', duration: 1 },
    expected: { text: 'One. Two. Three. Four.', language: 'en', duration_ms: 1000 },
  },
  {
    name: 'several lines of a language without spaces',
    answer: { text: '请坐。\n明天见。\n', language: 'zh', duration: 1 },
    expected: { text: '请坐。明天见。', language: 'zh', duration_ms: 1000 },
  },
  {
    name: 'invalid fields beside the text',
    answer: { text: 'ok', language: 7, languages: [null], duration: 'soon', usage: 'none' },
    expected: { text: 'ok', language: null, duration_ms: recordingMs },
  },
];

describe('parses the response of', () => {
  let hosted: Hosted & AsyncDisposable;
  beforeAll(async () => {
    hosted = await openHosted();
  });
  afterAll(() => hosted[Symbol.asyncDispose]());

  test.each(dialects)('$name', async ({ answer, expected }) => {
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
