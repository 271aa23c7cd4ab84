/** Models are judged before they are loaded. */
import {
  appendFile,
  copyFile,
  mkdir,
  readFile,
  readdir,
  rename,
  rm,
  stat,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ModelFacts, ModelFiles } from '../../../engines/sherpa-stt/model-facts.ts';
import { families } from '../../../engines/sherpa-stt/families.ts';
import { rememberFolder } from '../../../engines/lib/sherpa/folder.ts';
import { shapes, writeFamily, type FamilyOptions, type Shape } from '../../support/recognizer-families.ts';
import { writeRecognizer, type RecognizerOptions } from '../../support/recognizer-model.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { writeVoice } from '../../support/voice-model.ts';

const remember = (folder: string): (() => Promise<ModelFiles>) => rememberFolder(folder, Object.values(families));

/** The model after `change`, which gets the path of its folder. */
async function inspected(
  change: (folder: string) => Promise<unknown>,
  options?: RecognizerOptions,
): Promise<ModelFiles> {
  const folder = await writeRecognizer(await temporaryDirectory(), options);
  await change(folder);
  return remember(folder)();
}

const unchanged = () => Promise.resolve();

const refused = (detail: RegExp) => ({ ok: false, detail: expect.stringMatching(detail) as string });

/** An entry of 16 MiB, which takes no space on the disk. */
async function withLongMetadata(file: string): Promise<void> {
  await appendFile(file, Buffer.from([14 * 8 + 2, 0x80, 0x80, 0x80, 0x08]));
  await truncate(file, (await stat(file)).size + 2 ** 24);
}

/** Rewrites the lines of tokens.txt. */
const tokens = (change: (lines: string[]) => readonly string[]) => async (folder: string) => {
  const file = join(folder, 'tokens.txt');
  await writeFile(file, change((await readFile(file, 'utf8')).trimEnd().split('\n')).join('\n'));
};

describe('a model', () => {
  it('is usable with model.onnx and tokens.txt', async () => {
    const found = await inspected(unchanged);
    expect(found).toMatchObject({ ok: true, marksWords: true });
    const { file, config } = found as Extract<ModelFiles, { ok: true }>;
    expect(config).toEqual({ nemoCtc: { model: file }, tokens: join(file, '../tokens.txt') });
  });

  it('may be quantized', async () => {
    const found = await inspected((folder) => rename(join(folder, 'model.onnx'), join(folder, 'model.int8.onnx')));
    expect(found).toMatchObject({ ok: true, file: expect.stringMatching(/model\.int8\.onnx$/) as string });
  });

  it.each(['EncDecCTCModel', 'EncDecHybridRNNTCTCBPEModel'])('may be an %s', async (model_type) => {
    expect(await inspected(unchanged, { metadata: { model_type } })).toMatchObject({ ok: true });
  });

  it.each(['NA', 'per_feature', undefined])('may have the normalize_type %s', async (normalize_type) => {
    expect(await inspected(unchanged, { metadata: { normalize_type } })).toMatchObject({ ok: true });
  });

  it('may have tokens in any order, with tabs and line ends of Windows, and a space that is written as an id alone', async () => {
    const change = tokens((lines) => [
      ...lines
        .slice(1)
        .reverse()
        .map((line) => `${line.replace(' ', '\t')}\r`),
      '',
      '0',
    ]);
    expect(await inspected(change)).toMatchObject({ ok: true, marksWords: true });
  });

  it('without marks has a word in each token', async () => {
    const change = tokens((lines) => lines.map((line) => line.replace('▁', '')));
    expect(await inspected(change, { code: 'words' })).toMatchObject({ ok: true, marksWords: false });
  });

  it('without marks may have a wide space among its tokens', async () => {
    const change = tokens((lines) => [...lines.map((line) => line.replace('▁', '')), '\u3000 99']);
    expect(await inspected(change, { code: 'words' })).toMatchObject({ ok: true, marksWords: false });
  });

  it('is looked at again when a file has changed', async () => {
    const folder = await writeRecognizer(await temporaryDirectory());
    const look = remember(folder);
    const first = await look();
    expect(await look()).toBe(first);
    await utimes(join(folder, 'tokens.txt'), 1, 1);
    expect(await look()).not.toBe(first);
    await rm(join(folder, 'tokens.txt'));
    expect(await look()).toEqual({ ok: false, detail: `${folder}/tokens.txt does not exist` });
  });
});

describe('a file that would end the program', () => {
  const model = (change: (file: string) => Promise<unknown>) => (folder: string) => change(join(folder, 'model.onnx'));

  it.each([
    [
      'missing',
      model((file) => rm(file)),
      /\/[^/]+ is not usable: it has no model\.onnx \(CTC models of NeMo\), encoder\.onnx \(transducers of NeMo\), .+ encoder_model\.ort \(Moonshine\)$/,
    ],
    ['empty', model((file) => writeFile(file, '')), /not an ONNX model$/],
    ['garbage', model((file) => writeFile(file, 'garbage')), /not an ONNX model$/],
    ['cut', model(async (file) => truncate(file, (await stat(file)).size - 1)), /it is cut/],
    ['a directory', model(async (file) => (await rm(file), mkdir(file))), /not a regular file/],
    ['sparse, with metadata without end', model(withLongMetadata), /it has too much metadata/],
    ['a voice', async (folder: string) => rename(await writeVoice(folder, 'voice'), join(folder, 'model.onnx')), /model_type is vits; supported: CTC models of NeMo, SenseVoice$/], // prettier-ignore
  ])('is refused: %s', async (_what, change, detail) => {
    expect(await inspected(change)).toEqual(refused(detail));
  });

  it.each([
    ['no model_type', { model_type: undefined }, /model_type is missing/],
    ['the model_type of a transducer', { model_type: 'EncDecRNNTBPEModel' }, /model_type is EncDecRNNTBPEModel/],
    ['those of a streaming model', { window_size: 65 }, /it is a streaming model/],
    ['no vocab_size', { vocab_size: undefined }, /its vocab_size must be 1 to \d+$/],
    ['a negative vocab_size', { vocab_size: -1 }, /its vocab_size must be 1 to \d+$/],
    ['no subsampling_factor', { subsampling_factor: undefined }, /its subsampling_factor must be 1 to 100$/],
    ['more tokens than bytes', { vocab_size: 9_999_999 }, /its vocab_size must be 1 to \d+$/],
    ['a subsampling_factor of 0', { subsampling_factor: 0 }, /its subsampling_factor must be 1 to 100$/],
    ['another normalize_type', { normalize_type: 'all_features' }, /normalize_type is neither empty nor per_feature/],
  ])('is refused for its metadata: %s', async (_what, metadata, detail) => {
    expect(await inspected(unchanged, { metadata })).toEqual(refused(detail));
  });

  it.each([
    ['missing', (folder: string) => rm(join(folder, 'tokens.txt')), /tokens\.txt does not exist$/],
    [
      'a directory',
      async (folder: string) => (await rm(join(folder, 'tokens.txt')), mkdir(join(folder, 'tokens.txt'))),
      /not a regular file/,
    ],
    ['empty', tokens(() => []), /tokens\.txt is not usable: it is empty/],
    ['without the blank', tokens((lines) => lines.slice(0, -1)), /it has no <blk>/],
    ['too short', tokens((lines) => lines.slice(10)), /it has no token 0 of 42/],
    ['with a gap', tokens((lines) => lines.filter((_line, at) => at !== 7)), /it has no token 7 of 42/],
    ['with an id twice', tokens((lines) => [...lines, lines[3]!]), /two lines have the same id/],
    ['with three columns', tokens((lines) => [...lines, 'a b 99']), /a line is not a symbol and its id/],
    ['with words for ids', tokens((lines) => [...lines, 'a b']), /a line is not a symbol and its id/],
    ['longer than any', (folder: string) => truncate(join(folder, 'tokens.txt'), 4_194_305), /it is too long/],
  ])('is refused: tokens.txt %s', async (_what, change, detail) => {
    expect(await inspected(change)).toEqual(refused(detail));
  });
});

describe('a folder of another family', () => {
  const cut = async (folder: string, name: string) =>
    truncate(join(folder, name), Math.floor((await stat(join(folder, name))).size / 2));
  const lines = (change: (lines: string[]) => readonly string[]) => tokens((all) => [...change(all), '']);

  async function inspectedFamily(
    shape: Shape,
    change: (folder: string) => Promise<unknown>,
    options?: FamilyOptions,
  ): Promise<ModelFiles> {
    const folder = await writeFamily(await temporaryDirectory(), shape, options);
    await change(folder);
    return remember(folder)();
  }

  it.each([
    ['tdt', { hasTimes: true, pieceSeconds: 30, config: { transducer: {} } }],
    ['rnnt', { hasTimes: true, pieceSeconds: 30, config: { transducer: {} } }],
    [
      'sense-voice',
      { hasTimes: true, pieceSeconds: 30, languages: ['zh', 'en', 'ja', 'ko', 'yue'], config: { senseVoice: {} } },
    ],
    ['moonshine-v1', { hasTimes: false, pieceSeconds: 8, config: { moonshine: {} } }],
    ['moonshine-v2', { hasTimes: false, pieceSeconds: 8, config: { moonshine: {} } }],
  ] as const)('is recognized by its files: %s', async (shape, facts) => {
    expect(await inspectedFamily(shape, unchanged)).toMatchObject({ ok: true, ...facts });
  });

  it.each([
    ['https://huggingface.co/nvidia/parakeet-tdt-0.6b-v3', 25],
    ['https://huggingface.co/nvidia/parakeet-tdt-0.6b-v2', 1],
    ['https://huggingface.co/nvidia/parakeet-tdt-1.1b', undefined],
  ])('has the languages of the model that its metadata name: %s', async (url, count) => {
    const found = (await inspectedFamily('tdt', unchanged, { metadata: { url } })) as ModelFacts;
    expect(found.languages?.length).toBe(count);
  });

  it.each(shapes)('is refused for each file that is missing, or cut in half: %s', async (shape) => {
    for (const name of await readdir(await writeFamily(await temporaryDirectory(), shape))) {
      const missing = await inspectedFamily(shape, (folder) => rm(join(folder, name)));
      expect(missing, name).toEqual(refused(new RegExp(`${name.replace('.onnx', String.raw`\.(onnx|ort)`)} does not exist$|it has no `))); // prettier-ignore
      const half = await inspectedFamily(shape, (folder) => cut(folder, name));
      expect(half, name).toEqual(refused(new RegExp(`${name} is not usable: `)));
    }
  });

  it.each([
    ['tdt', 'vocab_size', undefined],
    ['tdt', 'subsampling_factor', 0],
    ['tdt', 'pred_rnn_layers', undefined],
    ['tdt', 'pred_rnn_layers', 101],
    ['tdt', 'pred_hidden', -1],
    ['tdt', 'pred_hidden', 10_001],
    ['tdt', 'subsampling_factor', 101],
    ['tdt', 'vocab_size', '1e1'],
    ['tdt', 'normalize_type', 'all_features'],
    ['tdt', 'window_size', 65],
    ['sense-voice', 'vocab_size', undefined],
    ['sense-voice', 'lfr_window_size', 0],
    ['sense-voice', 'lfr_window_size', 101],
    ['sense-voice', 'lfr_window_shift', 101],
    ['sense-voice', 'vocab_size', 9_999_999],
    ['sense-voice', 'lfr_window_shift', undefined],
    ['sense-voice', 'normalize_samples', undefined],
    ['sense-voice', 'without_itn', 'x'],
    ['sense-voice', 'lang_ko', undefined],
    ['sense-voice', 'neg_mean', '0,0'],
    ['sense-voice', 'inv_stddev', 'a'.repeat(560)],
    ['sense-voice', 'comment', 'FunASR Nano'],
    ['sense-voice', 'with_itn', undefined],
    ['tdt', 'model_type', 'zipformer2'],
  ] as const)('is refused for its metadata: %s with %s = %s', async (shape, key, value) => {
    const told: Readonly<Record<string, RegExp>> = {
      window_size: /it is a streaming model/,
      comment: /it is a model of Fun-ASR Nano/,
      with_itn: /its model_type is sense_voice_ctc; supported: CTC models of NeMo, SenseVoice/,
      model_type: /its model_type is zipformer2; supported: transducers of NeMo/,
    };
    const found = await inspectedFamily(shape, unchanged, { metadata: { [key]: value } });
    expect(found).toEqual(refused(told[key] ?? new RegExp(`its ${key} `)));
  });

  it.each([
    ['tdt', 'without its last token', lines((all) => all.slice(0, -2)), /has no <blk>|is not <blk>/],
    ['tdt', 'with the blank first', lines((all) => ['<blk> 0', ...all.slice(0, -1).map((line, at) => line.replace(/\d+$/, String(at + 1)))]), /its last token is not <blk> with the id 12/], // prettier-ignore
    ['sense-voice', 'without its last token', lines((all) => all.slice(0, -1)), /it has no token 21 of 22/],
    ['moonshine-v1', 'with a gap', lines((all) => all.filter((_line, at) => at !== 4)), /it has no token 4 of 14/],
    [
      'moonshine-v2',
      'of version 1',
      lines((all) => all.map((_line, at) => `▁word ${at}`)),
      /a symbol is not in base64/,
    ],
    ['moonshine-v2', 'without a line', lines(() => []), /it is empty/],
  ] as const)('is refused: %s, tokens.txt %s', async (shape, _what, change, detail) => {
    expect(await inspectedFamily(shape, change)).toEqual(refused(detail));
  });

  it('is refused with the file of another family in the place of its own', async () => {
    const other = await writeFamily(await temporaryDirectory(), 'sense-voice');
    const found = await inspectedFamily('tdt', (folder) => copyFile(join(other, 'model.onnx'), join(folder, 'encoder.onnx'))); // prettier-ignore
    expect(found).toEqual(refused(/encoder\.onnx is not usable: its model_type is sense_voice_ctc; supported: trans/));
  });
});

describe("a file in ONNX Runtime's own format", () => {
  /** The head of a FlatBuffer: the root table, whose first field is a text at the end of the file. */
  function ortFile(bytes: number): Buffer {
    const file = Buffer.alloc(bytes);
    file.writeUInt32LE(16, 0);
    file.write('ORTM', 4, 'latin1');
    file.writeUInt16LE(6, 8); // the table of offsets: its own size, that of the root table, the first field
    file.writeUInt16LE(8, 10);
    file.writeUInt16LE(4, 12);
    file.writeInt32LE(8, 16);
    file.writeUInt32LE(bytes - 8 - 20, 20);
    file.writeUInt32LE(1, bytes - 8);
    file.write('6', bytes - 4, 'latin1');
    return file;
  }

  it.each([
    ['whole', (file: Buffer) => file, undefined],
    ['cut', (file: Buffer) => file.subarray(0, 900), /it is cut: 900 bytes of at least /],
    ['its first bytes', (file: Buffer) => file.subarray(0, 10), /it is not in the format of ONNX Runtime/],
    ['without its mark', (file: Buffer) => file.fill(0, 4, 8), /it is not in the format of ONNX Runtime/],
  ])('is judged: %s', async (_what, change, detail) => {
    const folder = await writeFamily(await temporaryDirectory(), 'moonshine-v2');
    await rm(join(folder, 'encoder_model.onnx'));
    await writeFile(join(folder, 'encoder_model.ort'), change(ortFile(1_000)));
    expect(await remember(folder)()).toMatchObject(detail ? refused(detail) : { ok: true });
  });
});
