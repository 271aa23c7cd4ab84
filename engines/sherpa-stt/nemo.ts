/** CTC models and transducers (such as Parakeet TDT) of NVIDIA NeMo, exported by the scripts of sherpa-onnx. */
import { Unusable, explained, requireCount } from '../lib/model-files.ts';
import type { Family } from '../lib/sherpa/folder.ts';
import type { Metadata } from '../lib/sherpa/onnx-file.ts';
import type { ModelFacts } from './model-facts.ts';
import { checkTokens } from './tokens.ts';

const hybrid = 'EncDecHybridRNNTCTCBPEModel';
const ctcTypes = ['EncDecCTCModel', 'EncDecCTCModelBPE', hybrid];
const transducerTypes = ['EncDecRNNTBPEModel', hybrid];

/** The first two mean that features are not normalized. */
const normalizations = ['', 'NA', 'per_feature'];

/** A piece uses memory in proportion to its length, and its features are computed synchronously. */
const traits = { hasTimes: true, pieceSeconds: 30 } as const;

const tokens = ['tokens.txt'];
const isOneOf = (types: readonly string[]) => (metadata: Metadata) => types.includes(metadata.get('model_type') ?? '');

export const nemoCtc: Family<ModelFacts> = {
  title: 'CTC models of NeMo',
  files: { model: ['model.onnx', 'model.int8.onnx'], tokens },
  isOwn: isOneOf(ctcTypes),
  judge({ paths: { model = '', tokens = '' }, bytes, metadata }) {
    const size = explained(model, () => vocabularySize(metadata, bytes));
    const marksWords = checkTokens(tokens, { size, blank: 'any' });
    return { file: model, bytes, config: { nemoCtc: { model }, tokens }, marksWords, ...traits };
  },
};

export const nemoTransducer: Family<ModelFacts> = {
  title: 'transducers of NeMo',
  files: {
    encoder: ['encoder.onnx', 'encoder.int8.onnx'],
    decoder: ['decoder.onnx', 'decoder.int8.onnx'],
    joiner: ['joiner.onnx', 'joiner.int8.onnx'],
    tokens,
  },
  isOwn: isOneOf(transducerTypes),
  judge({ paths: { encoder = '', tokens = '', ...others }, bytes, metadata }) {
    const size = explained(encoder, () => {
      const layers = requireCount(metadata.get('pred_rnn_layers'), 'pred_rnn_layers', mostLayers);
      requireCount(metadata.get('pred_hidden'), 'pred_hidden', Math.min(mostHidden, Math.floor(bytes / layers)));
      return vocabularySize(metadata, bytes);
    });
    const marksWords = checkTokens(tokens, { size, blank: 'last' });
    const languages = languagesOf(metadata.get('url') ?? '');
    const config = { transducer: { encoder, ...others }, tokens };
    return { file: encoder, bytes, config, marksWords, ...traits, ...(languages && { languages }) };
  },
};

/** The languages in the model card of Parakeet TDT 0.6B v3. The model detects the language itself. */
export const parakeetLanguages = 'bg cs da de el en es et fi fr hr hu it lt lv mt nl pl pt ro ru sk sl sv uk'.split(
  ' ',
);

function languagesOf(url: string): readonly string[] | undefined {
  if (url.includes('parakeet-tdt-0.6b-v3')) return parakeetLanguages;
  return url.includes('parakeet-tdt-0.6b-v2') ? ['en'] : undefined;
}

/** The library keeps a state of this size. Published decoders have up to 2 layers of 640 numbers. */
const [mostLayers, mostHidden] = [100, 10_000];

/** Feature frames per output frame of the encoder. Published models have 4 or 8. */
const maxSubsampling = 100;

/**
 * Rejects values that make sherpa-onnx exit or divide by 0. The size of the model limits the number of tokens, because
 * each has weights.
 */
function vocabularySize(metadata: Metadata, bytes: number): number {
  if (!normalizations.includes(metadata.get('normalize_type') ?? ''))
    throw new Unusable('its normalize_type is neither empty nor per_feature');
  // A streaming model has caches as further inputs, which the library does not support here.
  if (metadata.has('window_size') || metadata.has('streaming_model_type'))
    throw new Unusable('it is a streaming model');
  requireCount(metadata.get('subsampling_factor'), 'subsampling_factor', maxSubsampling);
  return requireCount(metadata.get('vocab_size'), 'vocab_size', bytes);
}
