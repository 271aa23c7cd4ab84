/** Subtitles, times and speech under /v1, with the real whisper-cli and eSpeak. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import OpenAI from 'openai';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startLocalService } from '../support/local-service.ts';
import { describeWith, run } from '../support/programs.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { readSubtitles, type Cue } from '../support/subtitles.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { tonePcm, toneWav, wav, writeToneModel } from '../support/tone-model.ts';
import { sdkOf } from './support/audio.ts';

vi.setConfig({ testTimeout: 120_000 }); // real programs, however busy the machine is

const rate = 16_000;

/** Of `-ojf`. */
interface WhisperOutput {
  readonly transcription: readonly {
    readonly tokens: readonly {
      readonly text: string;
      readonly offsets: { readonly from: number; readonly to: number };
    }[];
  }[];
}

/** Tolerance of the times of segments. */
const toleranceMs = 100;

describeWith(['whisper-cli'], 'tones of known words', (programs) => {
  const text = 'alpha bravo über kilo golf';
  /** Words in the first and in the second window of 30 s. */
  const truth: readonly Cue[] = [
    { from: 0, to: 2000, text: 'alpha bravo über' },
    { from: 30_000, to: 31_500, text: 'kilo golf' },
  ];

  let service: TestService;
  let sdk: OpenAI;
  const recording = () => {
    const first = tonePcm({ words: ['alpha', 'bravo', 'über'], rate, tailSeconds: 28 });
    const second = tonePcm({ words: ['kilo', 'golf'], rate });
    const bytes = wav(Int16Array.from([...first, ...second]), { rate, channels: 1 });
    return new File([new Uint8Array(bytes)], 'tones.wav');
  };
  const made = new Map<string, Promise<string>>();
  /** Made once for each format: whisper-cli takes half a second of processor time. */
  const subtitles = (response_format: 'srt' | 'vtt') => {
    const known = made.get(response_format);
    if (known) return known;
    const file = sdk.audio.transcriptions.create({ file: recording(), model: 'whisper-1', response_format });
    made.set(response_format, file);
    return file;
  };
  const silence = () => new File([new Uint8Array(toneWav({ words: [], rate }))], 'silence.wav');

  beforeAll(async () => {
    service = await startLocalService();
    sdk = sdkOf(service);
  });
  afterAll(() => service[Symbol.asyncDispose]());

  test.each(['srt', 'vtt'] as const)('as %s have the right words at the right times', async (response_format) => {
    const cues = readSubtitles(await subtitles(response_format));
    expect(cues.map((cue) => cue.text)).toEqual(truth.map((cue) => cue.text));
    for (const [index, { from, to }] of cues.entries()) {
      expect(Math.abs(from - truth[index]!.from)).toBeLessThanOrEqual(toleranceMs);
      expect(Math.abs(to - truth[index]!.to)).toBeLessThanOrEqual(toleranceMs);
    }
    expect(cues.map((cue) => cue.text).join(' ')).toBe(text);
  });

  test('in verbose_json have the times of their subtitles, and words within their segments', async () => {
    const verbose = await sdk.audio.transcriptions.create({
      ...{ file: recording(), model: 'whisper-1', response_format: 'verbose_json' as const },
      timestamp_granularities: ['word', 'segment'],
    });
    const { segments = [], words = [] } = verbose;
    expect(verbose).toMatchObject({ text, language: 'english' });
    expect(segments.map(({ start, end, text }) => ({ from: start * 1000, to: end * 1000, text: text.trim() }))).toEqual(
      readSubtitles(await subtitles('srt')),
    );
    expect(words.map(({ word }) => word).join(' ')).toBe(text);
    for (const [index, { start, end }] of words.entries()) {
      const segment = segments[index < 3 ? 0 : 1]!;
      expect(start).toBeGreaterThanOrEqual(segment.start);
      expect(end).toBeLessThanOrEqual(segment.end);
      expect(end).toBeLessThanOrEqual(verbose.duration);
    }
  });

  test('have the words of whisper-cli’s own output, to the millisecond', async () => {
    const directory = await temporaryDirectory();
    const [model, file, output] = ['tones.bin', 'tones.wav', 'out'].map((name) => join(directory, name)) as [
      string,
      string,
      string,
    ];
    await writeToneModel(model);
    await writeFile(file, new Uint8Array(await recording().arrayBuffer()));
    await run(programs['whisper-cli'], [
      '-np',
      '-m',
      model,
      '-l',
      'auto',
      '-t',
      '1',
      '-ojf',
      '-of',
      output,
      '-f',
      file,
    ]);
    const { transcription } = JSON.parse(await readFile(`${output}.json`, 'utf8')) as WhisperOutput;
    // In this recording each word is a token, after those of whisper's own.
    const expected = transcription
      .flatMap(({ tokens }) => tokens)
      .filter(({ text }) => !text.startsWith('[_'))
      .map(({ text, offsets }) => ({ word: text.trim(), ...offsets }));
    const { words = [] } = await sdk.audio.transcriptions.create({
      ...{ file: recording(), model: 'whisper-1', response_format: 'verbose_json' as const },
      timestamp_granularities: ['word'],
    });
    const ms = (seconds: number) => Math.round(seconds * 1000);
    expect(words.map(({ word, start, end }) => ({ word, from: ms(start), to: ms(end) }))).toEqual(expected);
    expect(expected.map(({ word }) => word).join(' ')).toBe(text);
  });

  test('are streamed segment by segment', async () => {
    const events = await sdk.audio.transcriptions.create({ file: recording(), model: 'whisper-1', stream: true });
    const seen: unknown[] = [];
    for await (const event of events) seen.push(event);
    expect(seen).toEqual([
      { type: 'transcript.text.delta', delta: 'alpha bravo über' },
      { type: 'transcript.text.delta', delta: ' kilo golf' },
      { type: 'transcript.text.done', text, languages: [{ code: 'en' }] },
    ]);
  });

  test('in a language that the form excludes are in the most likely of its languages', async () => {
    const french = () =>
      new File([new Uint8Array(toneWav({ words: ['alpha', 'kilo'], language: 'fr', rate }))], 'fr.wav');
    const languagesOf = async (...languages: readonly string[]) => {
      const more = languages.length > 0 && { languages: [...languages] };
      const given = await sdk.audio.transcriptions.create({ file: french(), model: 'gpt-transcribe', ...more });
      return { languages: given.languages, text: given.text };
    };
    expect(await languagesOf()).toEqual({ languages: [{ code: 'fr' }], text: 'alpha kilo' });
    expect(await languagesOf('de', 'fr', 'xx')).toEqual({ languages: [{ code: 'fr' }], text: 'alpha kilo' });
    expect((await languagesOf('de', 'en', 'zu')).languages?.[0]?.code).toMatch(/^(de|en)$/);
    expect((await languagesOf('zu')).languages).toEqual([{ code: 'fr' }]);
  });

  test('do not exist in silence', async () => {
    const inFormat = (response_format: 'srt' | 'vtt') =>
      sdk.audio.transcriptions.create({ file: silence(), model: 'whisper-1', response_format });
    expect(await inFormat('srt')).toBe('');
    expect(await inFormat('vtt')).toBe('WEBVTT\n\n');
  });
});

describeWith(['espeak-ng', 'ffmpeg'], 'speech on a fresh machine', () => {
  let service: TestService;
  let sdk: OpenAI;
  beforeAll(async () => {
    service = await startTestService();
    sdk = sdkOf(service);
  });
  afterAll(() => service[Symbol.asyncDispose]());
  const request = { model: 'tts-1', voice: 'alloy', input: 'Good morning, how are you today?' } as const;

  test('answers the probe of Home Assistant within its 10 s', async () => {
    const probe = { ...request, input: 'Test', response_format: 'mp3', speed: 1 } as const;
    const response = await sdk.audio.speech.create(probe, { signal: AbortSignal.timeout(10_000) });
    expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(0);
    expect(response.headers.get('content-type')).toBe('audio/mpeg');
    expect(response.headers.get('x-parlance-model')).toBe('espeak');
  });

  test('makes Opus in Ogg', async () => {
    const response = await sdk.audio.speech.create({ ...request, response_format: 'opus' });
    expect(response.headers.get('content-type')).toBe('audio/ogg');
    const head = Buffer.from(await response.arrayBuffer()).toString('latin1', 0, 36);
    expect(head.startsWith('OggS')).toBe(true);
    expect(head.endsWith('OpusHead')).toBe(true);
  });

  test('speaks at twice the speed, and refuses a speed that it does not have', async () => {
    const input = 'The quick brown fox jumps over the lazy dog near the old river bank. '.repeat(3);
    const bytesAt = async (speed: number) => {
      const response = await sdk.audio.speech.create({ ...request, input, response_format: 'wav', speed });
      return (await response.arrayBuffer()).byteLength;
    };
    expect(Math.abs((2 * (await bytesAt(2))) / (await bytesAt(1)) - 1)).toBeLessThan(0.1);
    await expect(bytesAt(4)).rejects.toMatchObject({ status: 400, param: 'speed', code: 'unsupported_parameter' });
  });
});
