/** CTC models of NVIDIA NeMo, exported by the scripts of sherpa-onnx. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Unusable, explained, readText, rememberFiles } from '../lib/model-files.ts';
import { readOnnxFile } from '../lib/sherpa/onnx-file.ts';
import type { ModelFacts, ModelFiles } from './model-facts.ts';

const modelTypes = ['EncDecCTCModel', 'EncDecCTCModelBPE', 'EncDecHybridRNNTCTCBPEModel'];

/** The first two mean that features are not normalized. */
const normalizations = ['', 'NA', 'per_feature'];

export function rememberNemoCtc(folder: string): () => Promise<ModelFiles> {
  const whole = join(folder, 'model.onnx');
  const quantized = join(folder, 'model.int8.onnx');
  const tokens = join(folder, 'tokens.txt');
  return rememberFiles([whole, quantized, tokens], () =>
    inspectModel(!existsSync(whole) && existsSync(quantized) ? quantized : whole, tokens),
  );
}

function inspectModel(file: string, tokens: string): ModelFacts {
  const { bytes, size } = explained(file, () => {
    const { bytes, metadata } = readOnnxFile(file);
    return { bytes, size: vocabularySize(metadata) };
  });
  const marksWords = explained(tokens, () => readTokens(tokens, size).marksWords);
  return { file, bytes, config: { nemoCtc: { model: file }, tokens }, marksWords };
}

/** Rejects values that make sherpa-onnx exit or divide by 0. */
function vocabularySize(metadata: ReadonlyMap<string, string>): number {
  const type = metadata.get('model_type');
  if (type === undefined || !modelTypes.includes(type))
    throw new Unusable(`its model_type is ${type ?? 'missing'}; supported: ${modelTypes.join(', ')}`);
  if (!normalizations.includes(metadata.get('normalize_type') ?? ''))
    throw new Unusable('its normalize_type is neither empty nor per_feature');
  // A streaming model has caches as further inputs, which the library does not support here.
  if (metadata.has('window_size')) throw new Unusable('it is a streaming model');
  countOf(metadata, 'subsampling_factor');
  return countOf(metadata, 'vocab_size');
}

function countOf(metadata: ReadonlyMap<string, string>, key: string): number {
  const value = metadata.get(key) ?? '';
  if (!/^[1-9]\d{0,6}$/.test(value)) throw new Unusable(`its ${key} is not 1 or more`);
  return Number(value);
}

/** The tables of NeMo's models are smaller than 0.1 MB. */
const maxTableBytes = 4_194_304;

const blanks = ['<blk>', '<blank>', '<eps>'];

/**
 * Each line of tokens.txt is a symbol and its id. Throws `Unusable` for content that makes sherpa-onnx exit, such as an
 * id below `size` without a symbol.
 */
function readTokens(file: string, size: number): { readonly marksWords: boolean } {
  const lines = readText(file, maxTableBytes).split('\n').filter((line) => line.trim() !== ''); // prettier-ignore
  const tokens = new Map(lines.map(readLine));
  const symbols = [...tokens.values()];
  if (!symbols.some((symbol) => blanks.includes(symbol))) throw new Unusable('it has no <blk>');
  for (let id = 0; id < size; id += 1)
    if (!tokens.has(id)) throw new Unusable(`it has no token ${id}, but vocab_size is ${size}`);
  return { marksWords: symbols.some((symbol) => /^[▁ ]/.test(symbol)) };
}

/** A line without a symbol is the token of the space. */
function readLine(line: string): [id: number, symbol: string] {
  const columns = line.split(/[ \t\r]+/).filter((column) => column !== '');
  const [id = '', symbol = ' ', ...more] = columns.reverse();
  if (!/^\d{1,7}$/.test(id) || more.length > 0) throw new Unusable('a line is not a symbol and its id');
  return [Number(id), symbol];
}
