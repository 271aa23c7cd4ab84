/** SenseVoice, exported by the scripts of sherpa-onnx. */
import { Unusable, explained, requireCount } from '../lib/model-files.ts';
import type { Family } from '../lib/sherpa/folder.ts';
import type { Metadata } from '../lib/sherpa/onnx-file.ts';
import type { ModelFacts } from './model-facts.ts';
import { checkTokens } from './tokens.ts';

const languages = ['zh', 'en', 'ja', 'ko', 'yue'];

const languageIds = ['auto', ...languages].map((language) => `lang_${language}`);
const integers = ['lfr_window_shift', 'normalize_samples', 'with_itn', 'without_itn', ...languageIds];

/** Mel bands of a frame. */
const bands = 80;

export const senseVoice: Family<ModelFacts> = {
  title: 'SenseVoice',
  files: { model: ['model.onnx', 'model.int8.onnx'], tokens: ['tokens.txt'] },
  isOwn: (metadata) => metadata.has('lfr_window_size') && metadata.has('with_itn'),
  judge({ paths: { model = '', tokens = '' }, bytes, metadata }) {
    const size = explained(model, () => vocabularySize(metadata, bytes));
    const marksWords = checkTokens(tokens, { size });
    const config = { senseVoice: { model, language: '', useInverseTextNormalization: 1 }, tokens };
    return { file: model, bytes, config, marksWords, languages, hasTimes: true, pieceSeconds: 30, hint: 'senseVoice' };
  },
};

/** Frames that are stacked, or skipped. Published models have 7 and 6. */
const maxFrames = 100;

/**
 * Rejects values that make sherpa-onnx exit. The size of the model limits the number of tokens, because each has
 * weights.
 */
function vocabularySize(metadata: Metadata, bytes: number): number {
  if (metadata.get('comment')?.includes('Nano')) throw new Unusable('it is a model of Fun-ASR Nano');
  const wrong = integers.find((key) => !/^-?\d{1,9}$/.test(metadata.get(key) ?? ''));
  if (wrong !== undefined) throw new Unusable(`its ${wrong} is not an integer`);
  const length = requireCount(metadata.get('lfr_window_size'), 'lfr_window_size', maxFrames) * bands;
  requireCount(metadata.get('lfr_window_shift'), 'lfr_window_shift', maxFrames);
  const list = ['neg_mean', 'inv_stddev'].find((key) => numbersIn(metadata.get(key)) !== length);
  if (list !== undefined) throw new Unusable(`its ${list} does not have ${length} numbers`);
  return requireCount(metadata.get('vocab_size'), 'vocab_size', bytes);
}

/** Returns how many numbers the list has; 0 if one of its parts is not a number. */
function numbersIn(list = ''): number {
  const parts = list.split(',');
  return parts.every((part) => part.trim() !== '' && Number.isFinite(Number(part))) ? parts.length : 0;
}
