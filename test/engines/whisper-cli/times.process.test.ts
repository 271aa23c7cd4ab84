/** Timestamps, prompt and temperature, with the real whisper-cli and with one that repeats its arguments. */
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { inspect, isDeepStrictEqual } from 'node:util';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Transcript, TranscriptionCall, TranscriptionOptions } from '../../../engines/contract/index.ts';
import { openerOf } from '../../../src/conformance/open.ts';
import { openRecorder } from '../../../src/conformance/recordings.ts';
import { sharedDirectory } from '../../conformance/support.ts';
import { describeWith, run } from '../../support/programs.ts';
import { tonePcm, toneWav, wav, writeToneModel } from '../../support/tone-model.ts';

const rate = 16_000;
const directory = sharedDirectory();
const standIn = join(import.meta.dirname, '../../fixtures/whisper/whisper-cli.mjs');
const path = (name: string) => join(directory.path, name);

beforeAll(async () => {
  await writeToneModel(path('tones.bin'));
  await writeFile(path('alpha.wav'), toneWav({ words: ['alpha'], rate }));
});

interface OpenedModel {
  readonly supports: readonly string[] | undefined;
  readonly transcribe: (
    wavPath: string,
    call?: Partial<TranscriptionCall>,
    options?: Partial<TranscriptionOptions>,
  ) => Promise<Transcript>;
}

interface ModelSettings {
  readonly file?: string;
  readonly vad?: string;
  /** Of the engine. */
  readonly options?: object;
}

/** Disposed at the end of the test. */
async function openModel(program: string, { options = {}, ...settings }: ModelSettings = {}): Promise<OpenedModel> {
  const models = [{ id: 'local', file: path('tones.bin'), ...settings }];
  const opened = await openerOf('whisper-cli', directory.path)({ program, models, ...options });
  onTestFinished(() => opened[Symbol.asyncDispose]());
  const [model] = await opened.registry.models('transcription');
  const { entry, engine, engineId } = model!;
  return {
    supports: entry.supports,
    async transcribe(wavPath, call = {}, options = {}) {
      await using recording = await (await openRecorder(wavPath))('words');
      const { signal } = new AbortController();
      return await engine.transcribe({ recording, model: engineId, ...call }, { signal, ...options });
    },
  };
}

/** The same tests for both: who cannot be transcribed by the one is transcribed by the other. */
const ways = { 'a loaded model': { keepLoaded: true }, 'whisper-cli': { keepLoaded: false } } as const;

describeWith(['whisper-cli', 'whisper-host'], 'whisper.cpp', ({ 'whisper-cli': program }) => {
  /** Words in the first and in the second window of 30 s. */
  const truth = [
    { startMs: 0, endMs: 2000, text: 'alpha bravo über' },
    { startMs: 30_000, endMs: 31_500, text: 'kilo golf' },
  ];

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

  describe.each(Object.entries(ways))('%s', (_way, options) => {
    test('returns the segments of the recording', async () => {
      const { transcribe } = await openModel(program, { options });
      const { text, segments = [] } = await transcribe(path('two.wav'), { timestamps: ['segment'] });
      expect(text).toBe('alpha bravo über kilo golf');
      expect(segments.map((segment) => segment.text)).toEqual(truth.map((segment) => segment.text));
      for (const [index, { startMs, endMs }] of segments.entries()) {
        expect(Math.abs(startMs - truth[index]!.startMs)).toBeLessThanOrEqual(100);
        expect(Math.abs(endMs - truth[index]!.endMs)).toBeLessThanOrEqual(100);
      }
    });

    test('returns the words of its own full output, in order and within their segments', async () => {
      const { transcribe } = await openModel(program, { options });
      const { segments = [], words = [] } = await transcribe(path('two.wav'), { timestamps: ['segment', 'word'] });
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

    test('reports segments and progress while it works', async () => {
      const { transcribe } = await openModel(program, { options });
      const events: unknown[] = [];
      const { segments } = await transcribe(
        path('two.wav'),
        { timestamps: ['segment'] },
        { onSegment: (segment) => events.push(segment), onProgress: (ms) => events.push(ms) },
      );
      expect(events).toEqual(segments?.flatMap((segment) => [segment, segment.endMs]));
      expect(events).toHaveLength(4);
    });

    test('fails with the error of a callback that throws', async () => {
      const { transcribe } = await openModel(program, { options });
      const onSegment = () => {
        throw new Error('not for me');
      };
      await expect(transcribe(path('alpha.wav'), {}, { onSegment })).rejects.toThrow('not for me');
    });

    test.each(['silence', 'click'])('returns no times for silence (%s)', async (name) => {
      const { transcribe } = await openModel(program, { options });
      const silent = await transcribe(path(`${name}.wav`), { timestamps: ['segment', 'word'] });
      expect(silent).toMatchObject({ text: '', language: null, segments: [], words: [] });
    });

    test.each([
      ['like an option', '-np'],
      ['with a word that would overflow its stack', 'x'.repeat(100_000)],
      ['of four-byte characters', '😀'.repeat(100_000)],
      ['with half a character', 'x \ud83d y'],
    ])('accepts a prompt %s', async (_what, prompt) => {
      const { transcribe } = await openModel(program, { options });
      expect(await transcribe(path('alpha.wav'), { prompt })).toMatchObject({ text: 'alpha' });
    });

    test.each([0, 0.4])('hears the same at temperature %d', async (temperature) => {
      const { transcribe } = await openModel(program, { options });
      expect(await transcribe(path('two.wav'), { temperature })).toMatchObject({ text: 'alpha bravo über kilo golf' });
    });

    test('takes keywords, and translates', async () => {
      const { transcribe } = await openModel(program, { options });
      // The tone model says the same whatever its task is. Of a prompt, each space would cost it a word.
      const heard = { text: 'alpha bravo über kilo golf' };
      expect(await transcribe(path('two.wav'), { keywords: ['Ada'] })).toMatchObject(heard);
      expect(await transcribe(path('two.wav'), { translate: true })).toMatchObject(heard);
    });

    test('detects the language, or takes that of the call', async () => {
      const { transcribe } = await openModel(program, { options });
      const heard = await Promise.all(
        ['fr', 'de'].map(async (language) => (await transcribe(path(`${language}.wav`))).language),
      );
      expect(heard).toEqual(['fr', 'de']);
      expect(await transcribe(path('fr.wav'), { language: 'de' })).toMatchObject({ text: 'alpha', language: 'de' });
    });

    test('encodes a short recording with the context of its length, where the settings say so', async () => {
      const { transcribe } = await openModel(program, { options: { ...options, audioContext: 'auto' } });
      for (const name of ['fr', 'two', 'de'])
        expect(await transcribe(path(`${name}.wav`))).toMatchObject({ durationMs: expect.any(Number) as number });
    });
  });
});

describeWith(['whisper-host'], 'the program that keeps a model loaded', ({ 'whisper-host': program }) => {
  const question = { id: 1, language: 'de', threads: 1 };

  /** Sends lines, reads one answer for each of `answers`, and ends the program. */
  async function talk(lines: readonly string[], answers: number, onAnswer = async (_answer: unknown) => {}) {
    const child = spawn(program, [path('tones.bin')], { stdio: ['pipe', 'pipe', 'inherit'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    const exit = once(child, 'exit');
    child.stdin.write(lines.map((line) => `${line}\n`).join(''));
    const heard: unknown[] = [];
    for await (const line of createInterface(child.stdout)) {
      if ('segment' in (JSON.parse(line) as object)) continue;
      heard.push(JSON.parse(line));
      await onAnswer(heard.at(-1));
      if (heard.length === answers + 1) child.stdin.end();
    }
    const [code] = (await exit) as [number];
    return { heard: heard.slice(1), code };
  }

  test('answers a question that it cannot answer with an error, and goes on', async () => {
    await writeFile(path('empty.wav'), wav(new Int16Array(0), { rate, channels: 1 }));
    const wrong = [
      { wav: path('none.wav') },
      { wav: path('empty.wav') },
      { wav: 7 },
      { wav: path('alpha.wav'), language: 'xx' },
    ];
    for (const fields of wrong) {
      const { heard, code } = await talk([JSON.stringify({ ...question, ...fields })], 1);
      expect(heard).toEqual([{ id: 1, error: expect.any(String) as string }]);
      expect(code).toBe(0);
    }
  });

  test('works on one at a time', async () => {
    await run('mkfifo', [path('pipe.wav')]); // nobody writes into it yet: the program is at work
    const lines = [1, 2].map((id) => JSON.stringify({ ...question, id, wav: path('pipe.wav') }));
    const busy = { id: 2, error: 'busy' };
    const { heard } = await talk(lines, 2, async (answer) => {
      if (isDeepStrictEqual(answer, busy)) await writeFile(path('pipe.wav'), await readFile(path('alpha.wav')));
    });
    expect(heard).toEqual([busy, { id: 1, done: { language: 'de', translated: false } }]);
  });

  test.each(['no JSON', '[]', '{"id":"one"}', '"half a \\ud800"'])(
    'ends at a line that is no question: %s',
    async (line) => {
      expect(await talk([line], 1)).toEqual({ heard: [], code: 5 });
    },
  );
});

describe('the arguments of whisper-cli', () => {
  beforeAll(async () => {
    for (const name of ['argument-list', 'hangs-after-a-segment'])
      await copyFile(path('tones.bin'), path(`${name}.bin`));
  });

  async function argumentsFor(call: Partial<TranscriptionCall>): Promise<string[]> {
    const { transcribe } = await openModel(standIn, { file: path('argument-list.bin') });
    return JSON.parse((await transcribe(path('alpha.wav'), call)).text) as string[];
  }

  test('are the plain ones for a plain call', async () => {
    const args = await argumentsFor({});
    const flags = args.filter((arg) => /^--?[a-z]/.test(arg));
    expect(flags).toEqual(['-np', '-m', '-l', '-t', '-oj', '-of', '-f']);
  });

  test('ask for tokens only if words are wanted', async () => {
    expect(await argumentsFor({ timestamps: ['segment'] })).toContain('-oj');
    const args = await argumentsFor({ timestamps: ['segment', 'word'] });
    expect(args).toContain('-ojf');
    expect(args).not.toContain('-oj');
  });

  test.each(['Parlance', '-oj --translate', 'two\nlines and "quotes"', ' 東京 '])(
    'contain the prompt as one argument: %j',
    async (prompt) => {
      const args = await argumentsFor({ prompt });
      expect(args[args.indexOf('--prompt') + 1]).toBe(prompt);
    },
  );

  test('contain the end of a long prompt, and no NUL', async () => {
    const args = await argumentsFor({ prompt: `${'a'.repeat(5000)}\0${'😀'.repeat(1000)}` });
    expect(args[args.indexOf('--prompt') + 1]).toBe(`${'a'.repeat(999)} ${'😀'.repeat(1000)}`);
  });

  test('contain keywords in the prompt, for every window', async () => {
    const args = await argumentsFor({ prompt: 'A talk.', keywords: ['Ada', '-np'] });
    expect(args.slice(-3)).toEqual(['--carry-initial-prompt', '--prompt', 'A talk. Ada, -np']);
    expect((await argumentsFor({ keywords: ['Ada'] })).at(-1)).toBe('Ada');
    expect(await argumentsFor({ prompt: 'A talk.' })).not.toContain('--carry-initial-prompt');
  });

  test('ask for a translation', async () => {
    expect(await argumentsFor({ translate: true })).toContain('-tr');
  });

  test.each([0, 0.35, 1])('contain the temperature %d', async (temperature) => {
    const args = await argumentsFor({ temperature });
    expect(args[args.indexOf('-tp') + 1]).toBe(String(temperature));
  });

  test('a segment is reported before the program ends', async () => {
    const { transcribe } = await openModel(standIn, { file: path('hangs-after-a-segment.bin') });
    const caller = new AbortController();
    const reason = new Error('seen enough');
    const segments: unknown[] = [];
    const onSegment = (segment: unknown) => {
      segments.push(segment);
      caller.abort(reason);
    };
    await expect(transcribe(path('alpha.wav'), {}, { signal: caller.signal, onSegment })).rejects.toBe(reason);
    expect(segments).toEqual([{ startMs: 0, endMs: 500, text: 'alpha' }]);
  });
});

test('a failure of whisper-cli is explained without the text of the recording', async () => {
  await copyFile(path('tones.bin'), path('fails-after-a-segment.bin'));
  const { transcribe } = await openModel(standIn, { file: path('fails-after-a-segment.bin') });
  const error = await transcribe(path('alpha.wav')).catch((error: unknown) => error);
  expect(error).toMatchObject({ code: 'engine-failed' });
  expect(inspect(error)).toContain('out of memory');
  expect(inspect(error)).not.toContain('secret words');
});

describe('a model of whisper-cli', () => {
  const hints = ['prompt', 'temperature'];

  test('supports the times of words only without VAD', async () => {
    expect((await openModel(standIn)).supports).toEqual([...hints, 'segment', 'word', 'keywords', 'translate']);
    const { supports } = await openModel(standIn, { vad: path('silero.bin') });
    expect(supports).toEqual([...hints, 'segment', 'keywords', 'translate']);
  });

  test('translates only if it knows more than English', async () => {
    await writeToneModel(path('english.bin'), { englishOnly: true });
    const { supports } = await openModel(standIn, { file: path('english.bin') });
    expect(supports).toEqual([...hints, 'segment', 'word', 'keywords']);
  });
});
