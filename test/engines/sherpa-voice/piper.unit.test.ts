/** Voices are checked before they are loaded. */
import { mkdir, readFile, rename, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { rememberPiper, type PiperFacts } from '../../../engines/sherpa-voice/piper.ts';
import type { Judged } from '../../../engines/lib/model-files.ts';
import { metadataFields } from '../../support/onnx-writer.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { voiceModel, writeVoice, type VoiceOptions } from '../../support/voice-model.ts';

const inspect = (file: string): Promise<Judged<PiperFacts>> => rememberPiper(file)();

/** The voice after `change`, which gets the path of its model. */
async function inspected(
  change: (file: string) => Promise<unknown>,
  options: VoiceOptions = {},
): Promise<Judged<PiperFacts>> {
  const file = await writeVoice(await temporaryDirectory(), 'voice', options);
  await change(file);
  return inspect(file);
}

const unchanged = () => Promise.resolve();

/** Replaces fields of its .onnx.json. */
const configured = (changes: object) => (file: string) =>
  writeFile(`${file}.json`, JSON.stringify({ ...voiceModel().config, ...changes }));

describe('a voice', () => {
  it('of Piper is usable with the facts of its .onnx.json', async () => {
    const found = await inspected(unchanged, { kind: 'piper', isPlain: true, speakers: 3, rate: 16_000 });
    expect(found).toMatchObject({
      ok: true,
      metadata: new Set(),
      config: {
        phonemes: 'espeak',
        espeakVoice: 'en-us',
        sampleRate: 16_000,
        speakerCount: 3,
        language: 'en',
        locale: 'en-US',
      },
    });
    expect(found.ok && [...found.config.speakers]).toEqual([['hum-0', 0], ['hum-1', 1], ['hum-2', 2]]); // prettier-ignore
  });

  it('that was converted already keeps its own metadata', async () => {
    const add = async (file: string) =>
      writeFile(file, Buffer.concat([await readFile(file), metadataFields({ sample_rate: 44_100, has_espeak: 1 })]));
    const found = await inspected(add, { rate: 24_000 });
    expect(found).toMatchObject({ ok: true, config: { phonemes: 'text', sampleRate: 24_000 } });
  });

  it('without a language in its .onnx.json has that of its eSpeak NG voice', async () => {
    expect(await inspected(configured({ language: undefined }))).toMatchObject({ config: { language: 'en' } });
    const unknown = { language: undefined, espeak: { voice: 'cmn' } };
    expect(await inspected(configured(unknown))).toMatchObject({ config: { language: null } });
  });

  it('is looked at again when a file has changed', async () => {
    const file = await writeVoice(await temporaryDirectory(), 'voice');
    const look = rememberPiper(file);
    const first = await look();
    expect(await look()).toBe(first);
    await utimes(file, 1, 1);
    const second = await look();
    expect(second).not.toBe(first);
    await rename(`${file}.json`, `${file}.away`);
    expect(await look()).toEqual({ ok: false, detail: `${file}.json does not exist` });
  });
});

describe('a file that would end the program', () => {
  it.each([
    ['missing', (file: string) => rename(file, `${file}.away`), /voice\.onnx does not exist$/],
    ['empty', (file: string) => writeFile(file, ''), /not an ONNX model$/],
    ['of zeros', (file: string) => writeFile(file, Buffer.alloc(4_096)), /not an ONNX model$/],
    [
      'of text',
      (file: string) => writeFile(file, 'version https://git-lfs.github.com/spec/v1\n'),
      /not an ONNX model$/,
    ],
    ['cut', async (file: string) => truncate(file, (await stat(file)).size / 2), /it is cut/],
    ['cut by a byte', async (file: string) => truncate(file, (await stat(file)).size - 1), /it is cut/],
    [
      'a directory',
      async (file: string) => {
        await rename(file, `${file}.away`);
        await mkdir(file);
      },
      /not a regular file/,
    ],
  ] as const)('is refused: %s', async (_what, change, detail) => {
    expect(await inspected(change)).toEqual({ ok: false, detail: expect.stringMatching(detail) as string });
  });

  it.each([
    ['sample_rate 0', { sample_rate: 0, has_espeak: 1 }, 'sample_rate must be 8000 to 48000'],
    ['a negative sample_rate', { sample_rate: -22_050, has_espeak: 1 }, 'sample_rate must be 8000 to 48000'],
    ['another kind of model', { sample_rate: 16_000, model_type: 'kokoro' }, 'model_type is not vits'],
    ['another front end', { sample_rate: 16_000, model_type: 'vits', jieba: 1 }, 'not a voice of Piper'],
    [
      'other speakers',
      { sample_rate: 16_000, model_type: 'vits', has_espeak: 1, n_speakers: 9 },
      '9 speakers, its .onnx.json 1',
    ],
    ['other speakers, without a sample_rate', { n_speakers: 30_000_000 }, '30000000 speakers, its .onnx.json 1'],
  ])('is refused for its metadata: %s', async (_what, metadata, detail) => {
    const add = async (file: string) =>
      writeFile(file, Buffer.concat([await readFile(file), metadataFields(metadata)]));
    expect(await inspected(add, { isPlain: true })).toEqual({
      ok: false,
      detail: expect.stringContaining(detail) as string,
    });
  });
});

describe('an .onnx.json', () => {
  it.each([
    ['no file', async (file: string) => (await rm(`${file}.json`), mkdir(`${file}.json`)), 'not a regular file'],
    ['longer than any', (file: string) => truncate(`${file}.json`, 4_194_305), 'it is too long'],
    ['no JSON', (file: string) => writeFile(`${file}.json`, '<html>'), 'not a JSON object'],
    ['of another front end', configured({ phoneme_type: 'pinyin' }), 'phoneme_type is pinyin; supported: espeak, text'],
    ['without an eSpeak NG voice', configured({ phoneme_type: 'espeak', espeak: {} }), 'no espeak.voice'],
    ['without a sample rate', configured({ audio: {} }), 'sample_rate must be 8000 to 48000'],
    ['without pads', configured({ phoneme_id_map: { a: [1] } }), 'lacks one of _ ^ $'],
    ['with an id beyond the table', configured({ num_symbols: 5 }), 'a number that is not below num_symbols'],
    ['with more symbols than the model has bytes', configured({ num_symbols: 1e8 }), 'its num_symbols must be 1 to '],
    ['with more speakers than any', configured({ num_speakers: 30_000_000 }), 'its num_speakers must be 1 to '],
    [
      'with more speakers than the model has bytes',
      configured({ num_speakers: 9_000 }),
      'its num_speakers must be 1 to ',
    ],
    [
      'with more names than speakers',
      configured({ num_speakers: 2, speaker_id_map: { a: 0, b: 1, c: 1 } }),
      'more than num_speakers names',
    ],
    ['with an unknown speaker', configured({ num_speakers: 2, speaker_id_map: { a: 2 } }), 'an unknown speaker'],
    ['with a length scale of 0', configured({ inference: { length_scale: 0 } }), 'length_scale must be 0.1 to 10'],
  ])('is refused: %s', async (_what, change, detail) => {
    const found = await inspected(change);
    expect(found).toEqual({ ok: false, detail: expect.stringMatching(/voice\.onnx\.json is not usable: /) as string });
    expect(found).toEqual({ ok: false, detail: expect.stringContaining(detail) as string });
  });
});
