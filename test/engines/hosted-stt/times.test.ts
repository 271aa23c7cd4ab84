/** Prompt, temperature and timestamps: what a provider is sent, and how its times are read. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import type { Transcript, TranscriptionCall } from '../../../engines/contract/index.ts';
import { answers, readForm, type Behavior } from '../../support/provider.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { fineAnswer, recording, startHosted, type Hosted } from './support.ts';

interface OpenedModel extends Pick<Hosted, 'provider'> {
  readonly transcribe: (call?: Partial<TranscriptionCall>) => Promise<Transcript>;
  /** What the model lists now. */
  readonly supports: () => Promise<readonly string[] | undefined>;
}

async function openModel(behavior: Behavior, model = '{ id: whisper }'): Promise<OpenedModel> {
  const hosted = await startHosted(behavior, { models: `[${model}]` });
  const path = join(await temporaryDirectory(), 'recording.wav');
  await writeFile(path, recording);
  const file = { path, bytes: recording.length, container: 'wav', mediaType: 'audio/wav' } as const;
  const { registry } = hosted.service.service;
  const find = () => registry.of('transcription').all[0]!;
  return {
    provider: hosted.provider,
    async transcribe(call = {}) {
      const { engine, engineId } = find();
      return engine.transcribe({ recording: file, model: engineId, ...call }, { signal: new AbortController().signal });
    },
    supports: async () => (await registry.recheck(), find().entry.supports),
  };
}

const whisper = {
  ...{ text: 'Guten Tag. Und nun?', language: 'german', duration: 1.5 },
  segments: [
    { id: 0, seek: 0, start: 0, end: 0.83, text: ' Guten Tag.', tokens: [1], temperature: 0, avg_logprob: -0.1 },
    { id: 1, seek: 0, start: 0.83, end: 1.52, text: ' Und nun?', tokens: [2], temperature: 0, avg_logprob: -0.1 },
  ],
  words: [
    { word: 'Guten', start: 0, end: 0.4 },
    { word: 'Tag', start: 0.4, end: 0.8399999737739563 },
    { word: 'Und', start: 0.9, end: 1.1 },
    { word: 'nun', start: 1.1, end: 1.6 },
  ],
};
const both = { timestamps: ['segment', 'word'] } as const;
const segmentsOnly = { timestamps: ['segment'] } as const;
const at = (startMs: number, endMs: number, text: string) => ({ startMs, endMs, text });
/** Segments whose texts are their numbers. */
const spans = (...times: readonly (readonly [start: unknown, end: unknown])[]) =>
  times.map(([start, end], n) => ({ start, end, text: `${n}` }));

describe('the provider is sent', () => {
  test('nothing that the call does not contain', async () => {
    const { provider, transcribe } = await openModel(answers(200, whisper));
    expect(Object.keys(await transcribe())).toEqual(['text', 'language', 'durationMs']);
    expect(Object.keys(await readForm(provider.calls[0]!))).toEqual(['model', 'response_format', 'file']);
  });

  test('the prompt and the temperature', async () => {
    const { provider, transcribe } = await openModel(answers(200, whisper));
    const prompt = '-- Parlance,\r\n"東京"';
    await transcribe({ prompt, temperature: 0 });
    const { prompt: sent, temperature } = await readForm(provider.calls[0]!);
    expect(sent?.content.toString()).toBe(prompt);
    expect(temperature?.content.toString()).toBe('0');
  });

  test('keywords, a field for each', async () => {
    const { provider, transcribe } = await openModel(answers(200, whisper), '{ id: a, supports: [keywords] }');
    await transcribe({ keywords: ['Ada', 'Grace Hopper'] });
    const body = (await provider.calls[0]!.body).toString('latin1');
    expect(body.match(/name="keywords\[\]"\r\n\r\n.*/g)).toEqual([
      'name="keywords[]"\r\n\r\nAda',
      'name="keywords[]"\r\n\r\nGrace Hopper',
    ]);
  });

  test('a recording to translate at an address of its own, and no language', async () => {
    const { provider, transcribe } = await openModel(
      answers(200, whisper),
      '{ id: a, supports: [translate, segment] }',
    );
    const { segments } = await transcribe({ translate: true, language: 'de', ...segmentsOnly });
    expect(segments).toHaveLength(2);
    expect(provider.calls[0]?.path).toBe('/v1/audio/translations');
    expect(Object.keys(await readForm(provider.calls[0]!))).toEqual(['model', 'response_format', 'file']);
  });

  test('a field for each kind of timestamp, with verbose_json', async () => {
    const { provider, transcribe } = await openModel(answers(200, whisper));
    await transcribe(both);
    await transcribe(segmentsOnly);
    const bodies = await Promise.all(provider.calls.map(async ({ body }) => (await body).toString('latin1')));
    const kinds = bodies.map((body) =>
      [...body.matchAll(/name="timestamp_granularities\[\]"\r\n\r\n(\w+)\r\n/g)].map(([, kind]) => kind),
    );
    expect(kinds).toEqual([['segment', 'word'], ['segment']]);
    for (const body of bodies) expect(body).toContain('name="response_format"\r\n\r\nverbose_json\r\n');
  });
});

describe('the times of a response are read', () => {
  test('from seconds, in order and within the duration', async () => {
    const { transcribe } = await openModel(answers(200, whisper));
    expect(await transcribe(both)).toEqual({
      ...{ text: 'Guten Tag. Und nun?', language: 'de', durationMs: 1500 },
      segments: [at(0, 830, 'Guten Tag.'), at(830, 1500, 'Und nun?')],
      words: [at(0, 400, 'Guten'), at(400, 840, 'Tag'), at(900, 1100, 'Und'), at(1100, 1500, 'nun')],
    });
  });

  test.each<readonly [string, object, object]>([
    [
      'numbers as strings (vLLM)',
      { segments: [{ start: '0.5', end: '1', text: 'a' }] },
      { segments: [at(500, 1000, 'a')] },
    ],
    [
      'a start before 0 and an end before the start',
      { segments: [{ start: -0.02, end: -1, text: 'a' }] },
      { segments: [at(0, 0, 'a')] },
    ],
    [
      'starts that go back',
      { segments: spans([1, 1.2], [0.9, 1.4]) },
      { segments: [at(1000, 1200, '0'), at(1000, 1400, '1')] },
    ],
    [
      'one start after the recording',
      { duration: 5, segments: spans([0, 1], [9, 9.5], [2, 3], [3, 4]) },
      { segments: [at(0, 1000, '0'), at(1000, 2000, '1'), at(2000, 3000, '2'), at(3000, 4000, '3')] },
    ],
    [
      'times that are missing or no numbers (NaN in JSON)',
      { duration: 5, segments: spans([0, null], [null, 1.5], ['soon', 2], [3, 4], [4, '']) },
      { segments: [0, 1, 2, 3, 4].map((second) => at(1000 * second, 1000 * (second + 1), `${second}`)) },
    ],
    [
      'segments of lines, and without text',
      {
        segments: [
          { start: 0, end: 1, text: ' a\n b\0' },
          { start: 1, end: 1, text: ' ' },
        ],
      },
      { segments: [at(0, 1000, 'a b')] },
    ],
    [
      'words in `text` (LocalAI)',
      { segments: whisper.segments, words: [{ text: 'a', start: 0, end: 1 }] },
      { words: [at(0, 1000, 'a')] },
    ],
    [
      'words within segments (the server of whisper.cpp)',
      { segments: [{ start: 0, end: 1, text: 'a', words: [{ word: ' a', start: 0.1, end: 0.9 }] }] },
      { words: [at(100, 900, 'a')] },
    ],
  ])('from %s', async (_what, answer, expected) => {
    const { transcribe } = await openModel(answers(200, { text: 'a', duration: 1.5, ...answer }));
    const timestamps = 'words' in expected ? both.timestamps : segmentsOnly.timestamps;
    expect(await transcribe({ timestamps })).toMatchObject(expected);
  });

  test('from the verbose_json of another Parlance', async () => {
    const segment = { id: 0, seek: 0, start: 0, end: 1.84, text: 'alpha bravo', tokens: [], temperature: 0 };
    const rest = { avg_logprob: 0, compression_ratio: 0, no_speech_prob: 0 };
    const usage = { type: 'duration', seconds: 2 };
    const answer = { task: 'transcribe', language: 'english', duration: 1.75, text: 'alpha bravo', usage };
    const parlance = answers(200, { ...answer, segments: [{ ...segment, ...rest }] });
    const { transcribe } = await openModel(parlance, '{ id: there, remoteId: local, supports: [segment] }');
    expect(await transcribe(segmentsOnly)).toEqual({
      ...{ text: 'alpha bravo', language: 'en', durationMs: 1750 },
      segments: [at(0, 1750, 'alpha bravo')],
    });
  });

  test('as none for silence', async () => {
    const { transcribe } = await openModel(answers(200, { ...whisper, text: ' ' }));
    expect(await transcribe(both)).toEqual({
      ...{ text: '', language: null, durationMs: 1500 },
      ...{ segments: [], words: [] },
    });
  });

  const good = { start: 0, end: 1, text: 'a' };
  test.each<readonly [string, object]>([
    ['no segments', {}],
    ['segments that are null', { segments: null }],
    ['no segment', { segments: [] }],
    ['a segment that is null', { segments: [null] }],
    ['a segment without a start', { segments: [{ end: 1, text: 'a' }] }],
    ['a segment without a text', { segments: [{ start: 0, end: 1 }] }],
    ['an end that is no number', { segments: [{ ...good, end: 'soon' }] }],
    ['an end that is empty', { segments: [{ ...good, end: '' }] }],
    ['an end that is null (NaN in JSON)', { segments: [{ ...good, end: null }] }],
    ['starts and ends, never together', { segments: spans([0, undefined], [undefined, 1]) }],
    ['nanoseconds (LocalAI)', { segments: [{ ...good, end: 1_500_000_000 }] }],
  ])('unless it has %s: provider-bad-response, without its text', async (_what, times) => {
    const { transcribe } = await openModel(answers(200, { text: 'a secret', duration: 1, ...times }));
    const error = await transcribe(segmentsOnly).catch((error: unknown) => error);
    expect(error).toMatchObject({ code: 'provider-bad-response' });
    expect(inspect(error, { depth: null })).not.toContain('a secret');
    expect(await transcribe()).toEqual({ text: 'a secret', language: null, durationMs: 1000 });
  });

  test('unless words were asked for and only segments came', async () => {
    const { transcribe } = await openModel(answers(200, { ...whisper, words: undefined }));
    await expect(transcribe(both)).rejects.toMatchObject({ code: 'provider-bad-response' });
    expect(await transcribe(segmentsOnly)).toHaveProperty('segments');
  });
});

describe('a provider that refuses', () => {
  const refuses = (message: string, param: string | null) => answers(400, { error: { message, param, type: 'x' } });
  const refusesFormat = refuses("response_format 'verbose_json' is not compatible with model 'x'.", 'response_format');

  test('verbose_json is not asked for times again, and still transcribes without', async () => {
    const { provider, transcribe, supports } = await openModel(refusesFormat);
    expect(await supports()).toEqual(['prompt', 'temperature', 'segment', 'word']);
    await expect(transcribe(segmentsOnly)).rejects.toMatchObject({ code: 'format-not-supported' });
    expect(await supports()).toEqual(['prompt', 'temperature']);
    await expect(transcribe(segmentsOnly)).rejects.toMatchObject({ code: 'format-not-supported' });
    expect(provider.calls).toHaveLength(1);
    provider.behave(answers(200, fineAnswer));
    expect(await transcribe()).toMatchObject({ text: fineAnswer.text });
  });

  test.each([
    ['OpenAI', refuses('Unsupported', 'timestamp_granularities')],
    ['pydantic', answers(422, { detail: [{ loc: ['body', 'timestamp_granularities[]', 0], msg: 'bad' }] })],
  ])('a kind of timestamp (%s) may support the other', async (_who, refusal) => {
    const { transcribe, provider, supports } = await openModel(refusal);
    await expect(transcribe(both)).rejects.toMatchObject({ code: 'format-not-supported' });
    provider.behave(answers(200, whisper));
    expect(await transcribe(segmentsOnly)).toHaveProperty('segments');
    expect(await supports()).toContain('segment');
  });

  test('the prompt is named', async () => {
    const { transcribe } = await openModel(refuses('no prompts', 'prompt'));
    await expect(transcribe({ prompt: 'a' })).rejects.toMatchObject({
      code: 'provider-rejected-request',
      message: 'The provider rejected the request field "prompt".',
    });
  });
});

describe('a model supports', () => {
  test.each([
    ['whisper-1', ['prompt', 'temperature', 'segment', 'word']],
    ['{ id: fast, remoteId: openai/Whisper-Large-v3 }', ['prompt', 'temperature', 'segment', 'word']],
    ['gpt-4o-transcribe', ['prompt', 'temperature']],
    ['{ id: whisper-1, responseFormat: json }', ['prompt', 'temperature']],
    ['{ id: other, supports: [word, segment] }', ['segment', 'word']],
    ['{ id: whisper-1, supports: [] }', []],
  ])('what its settings and its name say: %s', async (model, expected) => {
    const { supports } = await openModel(answers(200, fineAnswer), model);
    expect(await supports()).toEqual(expected);
  });
});

describe('who says what', () => {
  const diarized = {
    ...{ task: 'transcribe', duration: 4.2, text: 'Guten Tag. Und nun?' },
    segments: [
      { type: 'transcript.text.segment', id: 'seg_0', start: 0, end: 1.2, speaker: 'agent', text: ' Guten Tag.' },
      { type: 'transcript.text.segment', id: 'seg_1', start: 1.2, end: 4.3, speaker: 'A', text: 'Und nun?' },
    ],
  };
  const model = '{ id: gpt-4o-transcribe-diarize, supports: [diarize] }';
  const refusal = { error: { param: 'response_format', message: 'response_format diarized_json is not compatible' } };

  test('is what the provider says', async () => {
    const { provider, transcribe } = await openModel(answers(200, diarized), model);
    expect(await transcribe({ diarize: true })).toEqual({
      ...{ text: 'Guten Tag. Und nun?', language: null, durationMs: 4200 },
      turns: [
        { startMs: 0, endMs: 1200, text: 'Guten Tag.', speaker: 'agent' },
        { startMs: 1200, endMs: 4200, text: 'Und nun?', speaker: 'A' },
      ],
    });
    const { response_format: format, chunking_strategy: chunking } = await readForm(provider.calls[0]!);
    expect([String(format?.content), String(chunking?.content)]).toEqual(['diarized_json', 'auto']);
  });

  test.each([
    ['no turns', answers(200, { text: 'Guten Tag.' }), 'provider-bad-response'],
    ['a turn without a speaker', answers(200, { text: 'x', segments: whisper.segments }), 'provider-bad-response'],
    ['a refusal', answers(400, refusal), 'format-not-supported'],
  ] as const)('is never made up: %s', async (_what, behavior, code) => {
    const { transcribe } = await openModel(behavior, model);
    await expect(transcribe({ diarize: true })).rejects.toMatchObject({ code });
  });
});
