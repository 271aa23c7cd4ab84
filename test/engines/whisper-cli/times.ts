/** What whisper.cpp answers with a loaded model and as whisper-cli: the same tests for both, some of them not on a push. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Transcript, TranscriptionCall, TranscriptionOptions } from '../../../engines/contract/index.ts';
import { openerOf } from '../../../src/conformance/open.ts';
import { openRecorder } from '../../../src/conformance/recordings.ts';
import { sharedDirectory } from '../../conformance/support.ts';
import { run } from '../../support/programs.ts';
import { tonePcm, toneWav, wav, writeToneModel } from '../../support/tone-model.ts';

export const rate = 16_000;

export interface OpenedModel {
  readonly supports: readonly string[] | undefined;
  readonly languages: readonly string[] | undefined;
  readonly transcribe: (
    wavPath: string,
    call?: Partial<TranscriptionCall>,
    options?: Partial<TranscriptionOptions>,
    sound?: 'words' | 'slice',
  ) => Promise<Transcript>;
}

export interface ModelSettings {
  readonly file?: string;
  readonly vad?: string;
  /** Of the engine. */
  readonly options?: object;
}

export interface ToneModels {
  /** Of a file in the directory of the tests, which has tones.bin and alpha.wav. */
  readonly path: (name: string) => string;
  /** Disposed at the end of the test. */
  readonly openModel: (program: string, settings?: ModelSettings) => Promise<OpenedModel>;
}

/** For the tests of a file. */
export function toneModels(): ToneModels {
  const directory = sharedDirectory();
  const path = (name: string) => join(directory.path, name);

  beforeAll(async () => {
    await writeToneModel(path('tones.bin'));
    await writeFile(path('alpha.wav'), toneWav({ words: ['alpha'], rate }));
  });

  return {
    path,
    async openModel(program, { options = {}, ...settings } = {}) {
      const models = [{ id: 'local', file: path('tones.bin'), ...settings }];
      const opened = await openerOf('whisper-cli', directory.path)({ program, models, ...options });
      onTestFinished(() => opened[Symbol.asyncDispose]());
      const [model] = opened.registry.of('transcription').all;
      const { entry, engine, engineId } = model!;
      return {
        supports: entry.supports,
        languages: entry.languages,
        async transcribe(wavPath, call = {}, options = {}, sound = 'words') {
          await using recording = await (await openRecorder(wavPath))(sound);
          const { signal } = new AbortController();
          return await engine.transcribe({ recording, model: engineId, ...call }, { signal, ...options });
        },
      };
    },
  };
}

/** The fallback: whisper-cli transcribes when the loaded model cannot, and the other way round. */
export const ways = { 'a loaded model': { keepLoaded: true }, 'whisper-cli': { keepLoaded: false } } as const;

/** Words in the first and in the second window of 30 s. */
const truth = [
  { startMs: 0, endMs: 2000, text: 'alpha bravo über' },
  { startMs: 30_000, endMs: 31_500, text: 'kilo golf' },
];

/** The recordings of `truth`, of two languages, and of silence. */
export function writeRecordings({ path }: ToneModels): void {
  beforeAll(async () => {
    const first = tonePcm({ words: ['alpha', 'bravo', 'über'], rate, tailSeconds: 28 });
    const second = tonePcm({ words: ['kilo', 'golf'], rate });
    await writeFile(path('two.wav'), wav(Int16Array.from([...first, ...second]), { rate, channels: 1 }));
    for (const language of ['fr', 'de'] as const) {
      await writeFile(path(`${language}.wav`), toneWav({ words: ['alpha'], language, rate }));
    }
    await writeFile(path('silence.wav'), toneWav({ words: [], rate }));
    await writeFile(path('click.wav'), wav(new Int16Array(300), { rate, channels: 1 }));
  });
}

export interface Subject {
  readonly program: string;
  readonly models: ToneModels;
  /** One of `ways`. */
  readonly options: object;
}

export function answersWithTimes({ program, models: { path, openModel }, options }: Subject): void {
  test('returns the segments of the recording, which it reports with its progress while it works', async () => {
    const { transcribe } = await openModel(program, { options });
    const events: unknown[] = [];
    const { text, segments = [] } = await transcribe(
      path('two.wav'),
      { timestamps: ['segment'] },
      { onSegment: (segment) => events.push(segment), onProgress: (ms) => events.push(ms) },
    );
    expect(text).toBe('alpha bravo über kilo golf');
    expect(segments.map((segment) => segment.text)).toEqual(truth.map((segment) => segment.text));
    for (const [index, { startMs, endMs }] of segments.entries()) {
      expect(Math.abs(startMs - truth[index]!.startMs)).toBeLessThanOrEqual(100);
      expect(Math.abs(endMs - truth[index]!.endMs)).toBeLessThanOrEqual(100);
    }
    expect(events).toEqual(segments.flatMap((segment) => [segment, segment.endMs]));
  });

  test('returns the words of its own full output, in order and within their segments; in a slice of a file, too', async () => {
    const { transcribe } = await openModel(program, { options });
    const call = { timestamps: ['segment', 'word'] } as const;
    const own = await transcribe(path('two.wav'), call);
    expect(await transcribe(path('two.wav'), call, {}, 'slice')).toEqual(own);
    const { segments = [], words = [] } = own;
    expect(words).toEqual(await tokensOf(path('two.wav')));
    expect(words.map(({ text }) => text)).toEqual(['alpha', 'bravo', 'über', 'kilo', 'golf']);
    expect(words.map(({ startMs }) => startMs)).toEqual(words.map(({ startMs }) => startMs).sort((a, b) => a - b));
    for (const [index, { startMs, endMs }] of words.entries()) {
      const segment = segments[index < 3 ? 0 : 1]!;
      expect(startMs).toBeGreaterThanOrEqual(segment.startMs);
      expect(endMs).toBeLessThanOrEqual(segment.endMs);
    }
  });

  /** Each word of the tone model is one token. */
  async function tokensOf(wavPath: string) {
    await run(program, [
      '-np',
      '-m',
      path('tones.bin'),
      '-l',
      'auto',
      '-t',
      '1',
      '-ojf',
      '-of',
      path('full'),
      '-f',
      wavPath,
    ]);
    const { transcription } = JSON.parse(await readFile(path('full.json'), 'utf8')) as {
      transcription: { tokens: { text: string; offsets: { from: number; to: number } }[] }[];
    };
    return transcription
      .flatMap(({ tokens }) => tokens)
      .filter(({ text }) => !text.startsWith('[_'))
      .map(({ text, offsets: { from, to } }) => ({ startMs: from, endMs: to, text: text.trim() }));
  }

  test.each(['silence', 'click'])('returns no times for silence (%s)', async (name) => {
    const { transcribe } = await openModel(program, { options });
    const silent = await transcribe(path(`${name}.wav`), { timestamps: ['segment', 'word'] });
    expect(silent).toMatchObject({ text: '', language: null, segments: [], words: [] });
  });

  test('detects the language, or takes that of the call', async () => {
    const { transcribe } = await openModel(program, { options });
    const transcripts = await Promise.all(
      ['fr', 'de'].map(async (language) => (await transcribe(path(`${language}.wav`))).language),
    );
    expect(transcripts).toEqual(['fr', 'de']);
    expect(await transcribe(path('fr.wav'), { language: 'de' })).toMatchObject({ text: 'alpha', language: 'de' });
  });
}

export function takesHints({ program, models: { path, openModel }, options }: Subject): void {
  test('fails with the error of a callback that throws', async () => {
    const { transcribe } = await openModel(program, { options });
    const onSegment = () => {
      throw new Error('not for me');
    };
    await expect(transcribe(path('alpha.wav'), {}, { onSegment })).rejects.toThrow('not for me');
  });

  test.each([
    ['like an option', '-np'],
    ['with a word that would overflow its stack', 'x'.repeat(100_000)],
    ['with half a character', 'x \ud83d y'],
  ])('accepts a prompt %s', async (_what, prompt) => {
    const { transcribe } = await openModel(program, { options });
    expect(await transcribe(path('alpha.wav'), { prompt })).toMatchObject({ text: 'alpha' });
  });

  test.each([0, 0.4])('transcribes the same at temperature %d', async (temperature) => {
    const { transcribe } = await openModel(program, { options });
    expect(await transcribe(path('alpha.wav'), { temperature })).toMatchObject({ text: 'alpha' });
  });

  test('takes keywords, and translates', async () => {
    const { transcribe } = await openModel(program, { options });
    // The tone model says the same whatever its task is. Of a prompt, each space would cost it a word.
    const transcript = { text: 'alpha bravo über kilo golf' };
    expect(await transcribe(path('two.wav'), { keywords: ['Ada'] })).toMatchObject(transcript);
    expect(await transcribe(path('alpha.wav'), { translate: true })).toMatchObject({ text: 'alpha' });
  });

  test('encodes a short recording with the context of its length, where the settings say so', async () => {
    const { transcribe } = await openModel(program, { options: { ...options, audioContext: 'auto' } });
    for (const name of ['fr', 'two', 'de'])
      expect(await transcribe(path(`${name}.wav`))).toMatchObject({ durationMs: expect.any(Number) as number });
  });
}

/** Whisper reads such prompts slowly: ten seconds each. */
export function survivesLongPrompts({ program, models: { path, openModel }, options }: Subject): void {
  test('accepts a prompt of four-byte characters', async () => {
    const { transcribe } = await openModel(program, { options });
    expect(await transcribe(path('alpha.wav'), { prompt: '😀'.repeat(100_000) })).toMatchObject({ text: 'alpha' });
  });
}
