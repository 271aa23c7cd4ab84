/** Models of each family, made by hand and run by the real library: what was said is transcribed exactly, or fails. */
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { until } from '../../support/processes.ts';
import { shapes, speakTones, writeFamily, type Shape } from '../../support/recognizer-families.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { words, type Word } from '../../support/tone-model.ts';
import { recordingOf, startRecognizers, type Recognizers } from './support.ts';

vi.setConfig({ testTimeout: 60_000 });

/** How far a word may be from where it begins; undefined: the family has no times. */
const tolerancesMs: Readonly<Record<Shape, number | undefined>> = {
  tdt: 30,
  rnnt: 30,
  'sense-voice': 60,
  'moonshine-v1': undefined,
  'moonshine-v2': undefined,
};

const sentence: readonly Word[] = ['alpha', 'bravo', 'bravo', '東京', 'kilo', 'golf', 'back\\slash', 'alpha'];
const { samples, starts } = speakTones({ words: sentence });
const spoken = recordingOf(samples);
const text = sentence.join(' ');
const failed = { status: 500, code: 'engine-failed' };

const start = (shape: Shape, more: object = {}): Promise<Recognizers> =>
  startRecognizers({ models: { local: { shape, ...more } } });

describe('a recording', () => {
  it.each(shapes)('is transcribed exactly: %s', async (shape) => {
    const { transcribe } = await start(shape);
    const toleranceMs = tolerancesMs[shape];
    const transcript = await transcribe(spoken, { timestamps: toleranceMs === undefined ? 'segment' : 'word' });
    expect(transcript).toMatchObject({ status: 200, text });
    expect(transcript.segments?.map((segment) => segment.text).join(' ')).toBe(text);
    for (const [at, { text, start_ms }] of (transcript.words ?? []).entries()) {
      expect(text).toBe(sentence[at]);
      expect(Math.abs(start_ms - (starts[at] ?? 0))).toBeLessThanOrEqual(toleranceMs ?? 0);
    }
  });

  it.each(shapes)('that is longer than a piece has every word once; one without words has none: %s', async (shape) => {
    const { transcribe } = await start(shape);
    const long = Array.from({ length: 80 }, (_, at) => words[(at * 5) % words.length]!);
    const transcript = await transcribe(recordingOf(speakTones({ words: long }).samples), { timestamps: 'segment' });
    expect(transcript.text).toBe(long.join(' '));
    expect(transcript.segments?.map((segment) => segment.text).join(' ')).toBe(long.join(' '));
    for (const length of [1, 300, 45 * 16_000])
      expect(await transcribe(recordingOf(new Int16Array(length)))).toMatchObject({
        status: 200,
        text: '',
        language: null,
      });
  });
});

describe('the listing', () => {
  it('has word times only for families that give them; others refuse a request for them', async () => {
    const models = Object.fromEntries(shapes.map((shape) => [shape, { shape }]));
    const { transcribe, service } = await startRecognizers({ models });
    const { data } = (await (await service.api('/transcribe/models')).json()) as { data: { id: string; supports: string[] }[] }; // prettier-ignore
    const withWords = data.filter(({ supports }) => supports.includes('word')).map(({ id }) => id);
    expect(withWords).toEqual(['tdt', 'rnnt', 'sense-voice']);
    const refused = await transcribe(spoken, { model: 'moonshine-v1', timestamps: 'word' });
    expect(refused).toMatchObject({ status: 422, code: 'parameter-not-supported' });
  });
});

describe('the language', () => {
  it('of a request is that of SenseVoice, also of requests at the same time, and is returned', async () => {
    const { transcribe, service } = await startRecognizers({ models: { local: { shape: 'sense-voice' } }, options: { slots: 4 } }); // prettier-ignore
    const { data } = (await (await service.api('/transcribe/models')).json()) as { data: { languages: string[] }[] };
    expect(data[0]?.languages).toEqual(['zh', 'en', 'ja', 'ko', 'yue']);
    const asked = ['en', 'ja', 'ko', 'zh', 'en', 'ja'];
    const transcript = await Promise.all(asked.map((language) => transcribe(spoken, { language })));
    expect(transcript.map(({ language }) => language)).toEqual(asked);
    expect(await transcribe(spoken)).toMatchObject({ text, language: 'zh' }); // the model detects Chinese
    expect(await transcribe(spoken, { language: 'yue' })).toMatchObject({ status: 200, text, language: null });
    expect(await transcribe(spoken, { language: 'de' })).toMatchObject({
      status: 422,
      code: 'language-not-supported',
      detail: 'The model local supports only "zh", "en", "ja", "ko", "yue", not "de".',
    });
  });

  it('of the settings must be one that the model transcribes', async () => {
    const { availability } = await start('sense-voice', { language: 'de' });
    expect(availability('local')).toMatchObject({
      available: false,
      reason: expect.stringMatching(/transcribes zh, en, ja, ko, yue, not "de" of the settings\.$/) as string,
    });
  });

  it('of a request may be each that Parakeet finds by itself', async () => {
    const metadata = { url: 'https://huggingface.co/nvidia/parakeet-tdt-0.6b-v3' };
    const { transcribe } = await start('tdt', { metadata });
    expect(await transcribe(spoken, { language: 'uk' })).toMatchObject({ status: 200, text, language: null });
    expect(await transcribe(spoken, { language: 'ja' })).toMatchObject({ status: 422, code: 'language-not-supported' });
  });
});

describe('a failure that the library only prints', () => {
  it.each(['sense-voice', 'moonshine-v2'] as const)('fails the request, and no other one: %s', async (shape) => {
    const models = { failing: { shape, failsInRequests: true }, good: { shape } };
    const { availability, transcribe, service } = await startRecognizers({ models });
    const [bad, good] = await Promise.all([transcribe(spoken), transcribe(spoken, { model: 'good' })]);
    expect(bad).toMatchObject(failed);
    expect(availability('failing')).toMatchObject({ available: true }); // it was loaded
    expect(good).toMatchObject({ status: 200, text });
    expect(await transcribe(spoken, { model: 'good' })).toMatchObject({ status: 200, text });
    expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
  });
});

describe('files that pass the check, but cannot be loaded', () => {
  const swap = (one: string, other: string) => async (folder: string) => {
    await rename(join(folder, one), join(folder, 'third'));
    await rename(join(folder, other), join(folder, one));
    await rename(join(folder, 'third'), join(folder, other));
  };
  const garbage = (name: string) => async (folder: string) => {
    const file = await readFile(join(folder, name));
    await writeFile(join(folder, name), file.fill(0x7f, 100, file.length - 3_000));
  };
  it.each([
    ['tdt', 'two of its files swapped', swap('decoder.onnx', 'joiner.onnx')],
    ['moonshine-v1', 'two of its files swapped', swap('preprocess.onnx', 'encode.onnx')],
    ['moonshine-v1', 'its decoders swapped', swap('cached_decode.onnx', 'encode.onnx')],
    ['moonshine-v2', 'two of its files swapped', swap('encoder_model.onnx', 'decoder_model_merged.onnx')],
    ['sense-voice', 'damaged weights', garbage('model.onnx')],
  ] as const)('are an error and listed, never silence; other models work: %s with %s', async (shape, _what, change) => {
    const folder = await writeFamily(await temporaryDirectory(), shape);
    await change(folder);
    const { availability, transcribe, programs } = await startRecognizers({
      models: { wrong: folder, good: { shape: 'rnnt' } },
    });
    const [wrong, good] = await Promise.all([
      transcribe(spoken, { model: 'wrong' }),
      transcribe(spoken, { model: 'good' }),
    ]);
    expect(wrong.status).toBeGreaterThanOrEqual(500);
    expect(good).toMatchObject({ status: 200, text });
    expect(availability('wrong')).toMatchObject({
      available: false,
      code: 'model-file-missing',
      reason: expect.stringMatching(/could not be loaded/) as string,
    });
    expect(programs()).toHaveLength(1);

    await writeFamily(folder, shape);
    expect(await transcribe(spoken, { model: 'wrong' })).toMatchObject({ status: 200, text });
  });
});

describe('memory', () => {
  it('of a small budget has one family at a time until their use is known, and nothing is left behind', async () => {
    const models = { tdt: { shape: 'tdt' }, moonshine: { shape: 'moonshine-v2' } } as const;
    const { transcribe, programs, service } = await startRecognizers({ models, env: { MEMORY_BUDGET: '205000000' } });
    for (const model of ['tdt', 'moonshine']) {
      expect(await transcribe(spoken, { model })).toMatchObject({ status: 200, text });
      expect(programs()).toHaveLength(1);
    }
    for (const model of ['tdt', 'moonshine', 'tdt'])
      expect(await transcribe(spoken, { model })).toMatchObject({ status: 200, text });
    for (const program of programs()) process.kill(Number(program), 'SIGKILL');
    await until('they have ended', () => programs().length === 0);
    expect(await transcribe(spoken, { model: 'moonshine' })).toMatchObject({ status: 200, text });
    await service[Symbol.asyncDispose]();
    await until('nothing is left behind', () => programs().length === 0);
  });
});
