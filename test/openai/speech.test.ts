/** POST /v1/audio/speech with the openai SDK, and the requests of apps field by field. */
import { BadRequestError, NotFoundError } from 'openai';
import type { SpeechCreateParams } from 'openai/resources/audio/speech';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { serveSandbox } from '../sandbox/support.ts';
import { createApi } from '../support/http.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { errorOf, sdkOf } from './support/audio.ts';
import { wavSamples } from '../support/wav-samples.ts';

const path = '/v1/audio/speech';

/** Bytes of 16-bit mono at 16 kHz, as the sandbox makes them, in milliseconds. */
const msOf = (wav: ArrayBuffer) => wavSamples(Buffer.from(wav)).length / 32;

const begins = {
  mp3: /^(ID3|\xff[\xe0-\xff])/,
  wav: /^RIFF....WAVE/s,
  ogg: /^OggS/,
  opus: /^OggS/,
  pcm: /^.[\0\xff]/s, // a pause
} as const;

describe('with the sandbox', () => {
  const sandbox = serveSandbox();
  const request = { model: 'tts-1', voice: 'alloy', input: 'Good morning.' };
  const create = (more: object = {}) => sdkOf(sandbox.service).audio.speech.create({ ...request, ...more });
  const wav = async (more: object = {}) => (await create({ response_format: 'wav', ...more })).arrayBuffer();

  test('mp3 is the default, sent in chunks', async () => {
    const response = await create();
    expect(response.headers.get('content-type')).toBe('audio/mpeg');
    expect(response.headers.get('transfer-encoding')).toBe('chunked');
    expect(response.headers.has('content-length')).toBe(false);
    expect(response.headers.get('x-parlance-model')).toBe('sandbox-speech');
    expect(response.headers.has('x-parlance-ignored')).toBe(false);
    expect(Buffer.from(await response.arrayBuffer()).toString('latin1', 0, 12)).toMatch(begins.mp3);
  });

  test.each([
    ['mp3', 'audio/mpeg'],
    ['wav', 'audio/wav'],
    ['ogg', 'audio/ogg'],
    ['pcm', 'audio/pcm'],
  ] as const)('%s is %s', async (response_format, mediaType) => {
    const response = await create({ response_format });
    expect(response.headers.get('content-type')).toBe(mediaType);
    const sound = Buffer.from(await response.arrayBuffer());
    expect(sound.toString('latin1', 0, 12)).toMatch(begins[response_format]);
  });

  test('a wav has its actual length, and only the mark of synthetic speech after the samples', async () => {
    const sound = Buffer.from(await wav());
    expect(sound.readUInt32LE(4)).toBe(sound.length - 8);
    expect(sound.toString('latin1', 36, 40)).toBe('data');
    const mark = sound.toString('latin1', 44 + wavSamples(sound).length);
    expect(mark).toBe('LIST\x1c\0\0\0INFOICMT\x10\0\0\0synthetic=true\0\0');
  });

  test.each([
    { model: 'tts-1-hd' },
    { model: 'gpt-4o-mini-tts' },
    { model: '' },
    { model: null },
    { model: undefined },
  ])('the model $model is the default', async (more) => {
    expect((await create(more)).headers.get('x-parlance-model')).toBe('sandbox-speech');
  });

  test.each([
    'alloy',
    'ash',
    'ballad',
    'cedar',
    'coral',
    'echo',
    'fable',
    'marin',
    'nova',
    'onyx',
    'sage',
    'shimmer',
    'verse',
  ])('the voice %s is the default voice', async (voice) => {
    expect(Buffer.from(await wav({ voice })).equals(Buffer.from(await wav({ voice: 'en' })))).toBe(true);
  });

  test('a voice may be an object; null and absent are the default', async () => {
    const german = Buffer.from(await wav({ voice: 'de' }));
    const usual = Buffer.from(await wav({ voice: 'en' }));
    expect(german.equals(usual)).toBe(false);
    expect(Buffer.from(await wav({ voice: { id: 'de' } })).equals(german)).toBe(true);
    expect(Buffer.from(await wav({ voice: null })).equals(usual)).toBe(true);
    expect(Buffer.from(await wav({ voice: undefined })).equals(usual)).toBe(true);
  });

  test('a speed of 2 halves the duration; 1 and null change nothing', async () => {
    const usual = msOf(await wav());
    expect(msOf(await wav({ speed: 2 }))).toBe(usual / 2);
    expect(msOf(await wav({ speed: 0.25 }))).toBe(usual * 4);
    expect(msOf(await wav({ speed: 1 }))).toBe(usual);
    expect(msOf(await wav({ speed: null }))).toBe(usual);
  });

  test('instructions reach the model, but not the word None', async () => {
    const usual = Buffer.from(await wav());
    expect(Buffer.from(await wav({ instructions: 'Higher!' })).equals(usual)).toBe(false);
    expect(Buffer.from(await wav({ instructions: 'None' })).equals(usual)).toBe(true);
    expect(Buffer.from(await wav({ instructions: '' })).equals(usual)).toBe(true);
  });

  test('unknown fields are ignored', async () => {
    expect((await create({ backend: 'x', user: 'ada', stream_format: 'audio' })).status).toBe(200);
  });

  test('32000 characters are spoken, of which some are two UTF-16 units', async () => {
    const response = await create({ input: '😀'.repeat(10) + 'x'.repeat(31_990), response_format: 'wav' });
    expect(response.status).toBe(200);
    await response.body?.cancel();
  });

  test.each([
    ['an empty text', { input: '' }, 'input', 'invalid_request'],
    ['32001 characters', { input: 'x'.repeat(32_001) }, 'input', 'invalid_request'],
    ['no text', { input: undefined }, 'input', 'invalid_request'],
    ['an unknown voice', { voice: 'absent' }, 'voice', 'voice_not_supported'],
    ['an unknown voice as an object', { voice: { id: 'absent' } }, 'voice', 'voice_not_supported'],
    ['an unknown format', { response_format: 'midi' }, 'response_format', 'invalid_request'],
    ['a speed above 4', { speed: 4.1 }, 'speed', 'invalid_request'],
    ['a speed below 0.25', { speed: 0.2 }, 'speed', 'invalid_request'],
    ['an unknown form of the stream', { stream_format: 'ndjson' }, 'stream_format', 'invalid_request'],
    ['a chat model', { model: 'sandbox-chat' }, 'model', 'invalid_request'],
  ])('%s is refused', async (_what, more, param, code) => {
    const asked = create(more);
    await expect(asked).rejects.toBeInstanceOf(BadRequestError);
    await expect(asked).rejects.toMatchObject({ param, code, type: 'invalid_request_error' });
    await expect(asked).rejects.toThrow(param); // clients drop the field that the message names
  });

  test('pcm has 24,000 samples a second and no header', async () => {
    const pcm = await (await create({ response_format: 'pcm' })).arrayBuffer();
    expect(pcm.byteLength / 48).toBeCloseTo(msOf(await wav()), 0);
  });

  test('an unknown model is not found', async () => {
    const asked = create({ model: 'tts-9' });
    await expect(asked).rejects.toBeInstanceOf(NotFoundError);
    await expect(asked).rejects.toMatchObject({ code: 'model_not_found', param: 'model' });
  });

  test.each([
    ['Open WebUI', { input: 'Good morning.', voice: 'alloy', model: 'tts-1' }],
    ['LibreChat', { input: 'Good morning.', model: 'tts-1', voice: 'alloy', backend: 'openai' }],
    [
      'Home Assistant (openai_tts, its probe)',
      { model: 'tts-1', input: 'Test', voice: 'alloy', response_format: 'mp3', speed: 1.0 },
    ],
    [
      'Home Assistant (openai_conversation)',
      { model: 'gpt-4o-mini-tts', voice: 'marin', input: 'Hi', instructions: 'None', speed: 1, response_format: 'mp3' },
    ],
    ['wyoming_openai', { model: 'tts-1', voice: 'alloy', input: 'Hi', response_format: 'wav', speed: 1 }],
    ['AI SDK', { model: 'tts-1', input: 'Hi', voice: 'alloy', response_format: 'mp3' }],
    ['pipecat', { input: 'Hi', model: 'gpt-4o-mini-tts', voice: 'alloy', response_format: 'pcm' }],
  ])('the request of %s is answered', async (_app, body) => {
    const { status, headers } = await createApi(sandbox.service.url).post(path, body, {
      authorization: 'Bearer undefined',
      accept: 'application/octet-stream',
    });
    expect(status).toBe(200);
    const format = 'response_format' in body ? body.response_format : 'mp3';
    expect(headers.get('content-type')).toBe(format === 'mp3' ? 'audio/mpeg' : `audio/${format}`);
  });

  describe('as server-sent events', () => {
    /** As LiveKit's plugin reads it: lines that begin with "data:". */
    const events = async (more: Partial<SpeechCreateParams> = {}) => {
      const response = await sdkOf(sandbox.service).audio.speech.create({ ...liveKit, ...more });
      expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
      expect(response.headers.get('x-parlance-model')).toBe('sandbox-speech');
      expect(response.headers.get('x-parlance-synthetic')).toBe('true');
      const text = await response.text();
      expect(text.endsWith('}\n\n')).toBe(true);
      const lines = text.split('\n').filter((line) => line.startsWith('data:'));
      return lines.map((line) => JSON.parse(line.slice(5)) as { type: string; audio?: string });
    };
    const liveKit = {
      ...{ input: 'Good morning.', model: 'gpt-4o-mini-tts', voice: 'ash', speed: 1 },
      ...({ response_format: 'mp3', stream_format: 'sse' } as const),
    };

    test.each(['mp3', 'wav', 'pcm'] as const)(
      '%s: the deltas are the audio, then one event says so',
      async (format) => {
        const whole = Buffer.from(
          await (await create({ ...liveKit, stream_format: 'audio', response_format: format })).arrayBuffer(),
        );
        const all = await events({ response_format: format });
        const deltas = all.slice(0, -1);
        expect(new Set(deltas.map(({ type }) => type))).toEqual(new Set(['speech.audio.delta']));
        const audio = deltas.map((delta) => Buffer.from(delta.audio ?? '', 'base64'));
        expect(Buffer.concat(audio).equals(whole)).toBe(true);
        expect(all.at(-1)).toEqual({
          type: 'speech.audio.done',
          usage: { input_tokens: 0, output_tokens: 0, total_tokens: 0 },
        });
      },
    );

    test('a request that cannot be spoken keeps its status', async () => {
      const asked = create({ ...liveKit, voice: 'absent' });
      await expect(asked).rejects.toMatchObject({ status: 400, param: 'voice', code: 'voice_not_supported' });
    });
  });
});

/** Pieces of pcm, one byte and three bytes long, then what the text asks for. */
const drips = `
export default {
  contract: 1,
  name: 'drips',
  capability: 'speech',
  options: { type: 'object', properties: {} },
  create: (_options, context) => ({
    models: [{ id: 'drips', local: true }],
    async synthesize({ text }, { signal }) {
      async function* audio() {
        try {
          for (let at = 0; at < 7; at += 1) yield Buffer.from(at % 2 ? [at] : [at, at, at]);
          if (text === 'fail') throw new Error('private');
          if (text === 'hang') await new Promise((resolve) => signal.addEventListener('abort', resolve));
        } finally {
          context.log.info({}, 'synthesis over');
        }
      }
      return { mediaType: 'audio/pcm', audio: audio() };
    },
  }),
};
`;

describe('pcm of an engine, in pieces of odd lengths', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService({
      config: 'engines: { mouth: { use: ./drips.mjs } }\n',
      files: { 'drips.mjs': drips },
    });
  });
  afterAll(() => service[Symbol.asyncDispose]());
  const ask = (input: string, more: object = {}) =>
    fetch(`${service.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ input, response_format: 'pcm', ...more }),
    });
  const bytes = [0, 0, 0, 1, 2, 2, 2, 3, 4, 4, 4, 5, 6, 6]; // and half a sample

  test('comes as whole samples; half a sample at the end is dropped', async () => {
    const response = await ask('speak');
    expect(response.headers.get('content-type')).toBe('audio/pcm');
    expect(Array.from(new Uint8Array(await response.arrayBuffer()))).toEqual(bytes);
  });

  test('has whole samples in every event', async () => {
    const text = await (await ask('speak', { stream_format: 'sse' })).text();
    const deltas = Array.from(text.matchAll(/"audio":"([^"]*)"/g), ([, audio = '']) => Buffer.from(audio, 'base64'));
    for (const { length } of deltas) expect(length % 2).toBe(0);
    expect(Array.from(Buffer.concat(deltas))).toEqual(bytes);
  });

  test('that fails midway ends the events with an error and without a done event', async () => {
    const text = await (await ask('fail', { stream_format: 'sse' })).text();
    expect(text).toMatch(
      /data: \{"error":\{"message":"[^"]+","type":"server_error","param":null,"code":"engine_failed"\}\}\n\n$/,
    );
    expect(text).not.toMatch(/done|private/);
  });

  test.each(['audio', 'sse'])('ends with its reader (%s)', async (stream_format) => {
    const isOver = () => service.log.filter(({ msg }) => msg === 'synthesis over').length;
    const before = isOver();
    const reader = (await ask('hang', { stream_format })).body!.getReader();
    expect((await reader.read()).value).not.toHaveLength(0);
    await reader.cancel();
    await expect.poll(isOver).toBe(before + 1);
  });
});

/** Speaks one byte, and logs what it was asked for. */
const engine = `
export default {
  contract: 1,
  name: 'scripted-speech',
  capability: 'speech',
  options: { type: 'object', properties: {} },
  create: (_options, context) => ({
    models: [
      { id: 'plain', local: true, voices: [{ id: 'ann', name: 'Ann', language: 'en' }] },
      { id: 'full', local: true, supports: ['speed', 'instructions'] },
      { id: 'openai', local: false, voices: [{ id: 'alloy', name: 'Alloy', language: null }] },
    ],
    async synthesize(call) {
      context.log.info({ call }, 'synthesize');
      return { mediaType: 'audio/mpeg', audio: (async function* () { yield Buffer.from('x'); })() };
    },
  }),
};
`;

interface Documented {
  readonly components: { readonly schemas: { readonly SpeechRequest: { readonly examples: readonly object[] } } };
}

describe('a model', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService({
      config: 'engines: { mouth: { use: ./speech.mjs } }\n',
      files: { 'speech.mjs': engine },
    });
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const ask = (body: object) => createApi(service.url).post(path, { input: 'Hi', ...body });
  const lastCall = () => service.log.findLast(({ msg }) => msg === 'synthesize')?.call;

  test('is not required: the examples of the documentation work with any service', async () => {
    const api = createApi(service.url);
    for (const [document, where] of [
      ['/openapi.json', '/api/v1/tts'],
      ['/openapi-compat.json', path],
    ] as const) {
      const { components } = (await api.get(document)).body as Documented;
      for (const example of components.schemas.SpeechRequest.examples) {
        expect([example, (await api.post(where, example)).status]).toEqual([example, 200]);
      }
    }
    expect((await api.get('/v1/audio/voices?model=tts-1')).status).toBe(200);
  });

  test('that supports speed and instructions gets them', async () => {
    const { headers } = await ask({ model: 'full', speed: 1.5, instructions: 'Shout.', response_format: 'opus' });
    expect(lastCall()).toEqual({ text: 'Hi', model: 'full', format: 'opus', speed: 1.5, instructions: 'Shout.' });
    expect(headers.has('x-parlance-ignored')).toBe(false);
  });

  test('that does not support a speed refuses it, except 1', async () => {
    const answer = await ask({ model: 'plain', speed: 2 });
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toMatchObject({ param: 'speed', code: 'unsupported_parameter' });
    expect((await ask({ model: 'plain', speed: 1 })).status).toBe(200);
    expect(lastCall()).toEqual({ text: 'Hi', model: 'plain', format: 'mp3' });
  });

  test('that does not support instructions speaks without them and names them in a header', async () => {
    const { headers } = await ask({ model: 'plain', instructions: 'Shout.' });
    expect(headers.get('x-parlance-ignored')).toBe('instructions');
    expect(lastCall()).toEqual({ text: 'Hi', model: 'plain', format: 'mp3' });
    expect((await ask({ model: 'plain', instructions: 'None' })).headers.has('x-parlance-ignored')).toBe(false);
  });

  test('receives the text without markup', async () => {
    const text = '# Cafe\u0301\n\n**One** [link](https://example.org) 🙂';
    const asItIs = text.normalize('NFC');
    const askNatively = (body: object) => createApi(service.url).post('/api/v1/tts', { model: 'plain', text, ...body });
    await ask({ model: 'plain', input: text });
    expect(lastCall()).toMatchObject({ text: 'Café\n\nOne link' });
    await askNatively({ speakable: true });
    expect(lastCall()).toMatchObject({ text: 'Café\n\nOne link' });
    await askNatively({ speakable: false });
    expect(lastCall()).toMatchObject({ text: asItIs });
    expect((await askNatively({ speakable: 'no' })).problem).toMatchObject({ status: 422, code: 'invalid-request' });
    const clip = await createApi(service.url).post('/api/v1/tts/clips', { model: 'plain', text, speakable: false });
    expect(clip.status).toBe(201);
    expect(lastCall()).toMatchObject({ text: asItIs });
  });

  test('is not called for an empty text, which becomes 100 ms of silence', async () => {
    const calls = () => service.log.filter(({ msg }) => msg === 'synthesize').length;
    const before = calls();
    const code = '```js\nconst a = 1;\n```';
    const post = (where: string, body: object) =>
      fetch(`${service.url}${where}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const answers = [
      await post(path, { input: code, response_format: 'pcm' }),
      await post('/api/v1/tts', { text: code, format: 'pcm' }),
    ];
    for (const answer of answers) {
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')).toBe('audio/pcm');
      expect(Buffer.from(await answer.arrayBuffer()).equals(Buffer.alloc(4_800))).toBe(true);
    }
    expect((await post(path, { input: code, voice: 'absent', model: 'plain' })).status).toBe(400);
    expect(calls()).toBe(before);
  });

  test.each([
    ['has a voice of that name', 'openai', 'alloy', 'alloy'],
    ['lists no voices', 'full', 'nova', 'nova'],
    ['has other voices', 'plain', 'alloy', undefined],
  ])('that %s: an alias of a voice', async (_what, model, voice, asked) => {
    expect((await ask({ model, voice })).status).toBe(200);
    expect((lastCall() as { voice?: string }).voice).toBe(asked);
  });
});
