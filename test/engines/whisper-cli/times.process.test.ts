/** Timestamps, prompt and temperature, with the real whisper-cli and with one that repeats its arguments. */
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { inspect, isDeepStrictEqual } from 'node:util';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { TranscriptionCall } from '../../../engines/contract/index.ts';
import { whisperLanguages } from '../../../lib/languages.ts';
import { describeWith, run } from '../../support/programs.ts';
import { wav, writeToneModel } from '../../support/tone-model.ts';
import { answersWithTimes, rate, takesHints, toneModels, ways, writeRecordings } from './times.ts';

const standIn = join(import.meta.dirname, '../../fixtures/whisper/whisper-cli.mjs');
const models = toneModels();
const { path, openModel } = models;

describeWith(['whisper-cli', 'whisper-host'], 'whisper.cpp', ({ 'whisper-cli': program }) => {
  writeRecordings(models);

  describe.each(Object.entries(ways))('%s', (_way, options) => answersWithTimes({ program, models, options }));

  describe('a loaded model', () => takesHints({ program, models, options: ways['a loaded model'] }));
});

describeWith(['whisper-host'], 'the program that keeps a model loaded', ({ 'whisper-host': program }) => {
  const question = { id: 1, startMs: 0, endMs: 1000, language: 'de', threads: 1 };

  /** Sends lines, reads one answer for each of `answers`, and ends the program. */
  async function talk(lines: readonly string[], answers: number, onAnswer = async (_answer: unknown) => {}) {
    const child = spawn(program, [path('tones.bin')], { stdio: ['pipe', 'pipe', 'inherit'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    const exit = once(child, 'exit');
    child.stdin.write(lines.map((line) => `${line}\n`).join(''));
    const received: unknown[] = [];
    for await (const line of createInterface(child.stdout)) {
      if ('segment' in (JSON.parse(line) as object)) continue;
      received.push(JSON.parse(line));
      await onAnswer(received.at(-1));
      if (received.length === answers + 1) child.stdin.end();
    }
    const [code] = (await exit) as [number];
    return { received: received.slice(1), code };
  }

  test('answers a question that it cannot answer with an error, and continues', async () => {
    await writeFile(path('empty.wav'), wav(new Int16Array(0), { rate, channels: 1 }));
    const wrong = [
      { wavPath: path('none.wav') },
      { wavPath: path('empty.wav') },
      { wavPath: path('alpha.wav'), startMs: 60_000, endMs: 61_000 },
      { wavPath: path('alpha.wav'), startMs: 1_000 },
      { wavPath: path('alpha.wav'), endMs: undefined },
      { wavPath: 7 },
      { wavPath: path('alpha.wav'), language: 'xx' },
    ];
    for (const fields of wrong) {
      const { received, code } = await talk([JSON.stringify({ ...question, ...fields })], 1);
      expect(received).toEqual([{ id: 1, error: expect.any(String) as string }]);
      expect(code).toBe(0);
    }
  });

  test('works on one at a time', async () => {
    await run('mkfifo', [path('pipe.wav')]); // nothing writes into it yet: the program is running
    const lines = [1, 2].map((id) => JSON.stringify({ ...question, id, wavPath: path('pipe.wav') }));
    const busy = { id: 2, error: 'busy' };
    const { received } = await talk(lines, 2, async (answer) => {
      if (isDeepStrictEqual(answer, busy)) await writeFile(path('pipe.wav'), await readFile(path('alpha.wav')));
    });
    expect(received).toEqual([busy, { id: 1, done: { language: 'de', translated: false } }]);
  });

  test.each(['no JSON', '[]', '{"id":"one"}', '"half a \\ud800"'])(
    'ends at a line that is no question: %s',
    async (line) => {
      expect(await talk([line], 1)).toEqual({ received: [], code: 5 });
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
  test('supports the times of words only without VAD', async () => {
    expect((await openModel(standIn)).supports).toContain('word');
    expect((await openModel(standIn, { vad: path('silero.bin') })).supports).not.toContain('word');
  });

  test('lists its languages, and translates only if it knows more than English', async () => {
    const multilingual = await openModel(standIn);
    expect(multilingual.languages).toEqual([...whisperLanguages, 'haw']);
    expect(multilingual.supports).toContain('translate');
    await writeToneModel(path('english.bin'), { englishOnly: true });
    const { supports, languages } = await openModel(standIn, { file: path('english.bin') });
    expect(supports).not.toContain('translate');
    expect(languages).toEqual(['en']);
  });
});
