/** Models are judged before they are loaded. */
import { appendFile, mkdir, readFile, rename, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ModelFiles } from '../../../engines/sherpa-stt/model-facts.ts';
import { modelKinds } from '../../../engines/sherpa-stt/model-kinds.ts';
import { writeRecognizer, type RecognizerOptions } from '../../support/recognizer-model.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { writeVoice } from '../../support/voice-model.ts';

/** The model after `change`, which gets the path of its folder. */
async function inspected(
  change: (folder: string) => Promise<unknown>,
  options?: RecognizerOptions,
): Promise<ModelFiles> {
  const folder = await writeRecognizer(await temporaryDirectory(), options);
  await change(folder);
  return modelKinds['nemo-ctc'](folder)();
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
    const look = modelKinds['nemo-ctc'](folder);
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
    ['missing', model((file) => rm(file)), /model\.onnx does not exist$/],
    ['empty', model((file) => writeFile(file, '')), /not an ONNX model$/],
    ['garbage', model((file) => writeFile(file, 'garbage')), /not an ONNX model$/],
    ['cut', model(async (file) => truncate(file, (await stat(file)).size - 1)), /it is cut/],
    ['a directory', model(async (file) => (await rm(file), mkdir(file))), /not a regular file/],
    ['sparse, with metadata without end', model(withLongMetadata), /it has too much metadata/],
    ['a voice', async (folder: string) => rename(await writeVoice(folder, 'voice'), join(folder, 'model.onnx')), /model_type is vits; supported: EncDecCTCModel, /], // prettier-ignore
  ])('is refused: %s', async (_what, change, detail) => {
    expect(await inspected(change)).toEqual(refused(detail));
  });

  it.each([
    ['no model_type', { model_type: undefined }, /model_type is missing/],
    ['the model_type of a transducer', { model_type: 'EncDecRNNTBPEModel' }, /model_type is EncDecRNNTBPEModel/],
    ['those of a streaming model', { window_size: 65 }, /it is a streaming model/],
    ['no vocab_size', { vocab_size: undefined }, /its vocab_size is not 1 or more/],
    ['a negative vocab_size', { vocab_size: -1 }, /its vocab_size is not 1 or more/],
    ['no subsampling_factor', { subsampling_factor: undefined }, /its subsampling_factor is not 1 or more/],
    ['a subsampling_factor of 0', { subsampling_factor: 0 }, /its subsampling_factor is not 1 or more/],
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
    ['empty', tokens(() => []), /tokens\.txt is not usable: it has no <blk>/],
    ['without the blank', tokens((lines) => lines.slice(0, -1)), /it has no <blk>/],
    ['too short', tokens((lines) => lines.slice(10)), /it has no token 0, but vocab_size is 42/],
    ['with a gap', tokens((lines) => lines.filter((_line, at) => at !== 7)), /it has no token 7, /],
    ['with three columns', tokens((lines) => [...lines, 'a b 99']), /a line is not a symbol and its id/],
    ['with words for ids', tokens((lines) => [...lines, 'a b']), /a line is not a symbol and its id/],
    ['longer than any', (folder: string) => truncate(join(folder, 'tokens.txt'), 4_194_305), /it is too long/],
  ])('is refused: tokens.txt %s', async (_what, change, detail) => {
    expect(await inspected(change)).toEqual(refused(detail));
  });
});
