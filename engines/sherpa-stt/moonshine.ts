/** Moonshine, versions 1 and 2. Its files have no metadata, so their names determine the version. */
import type { Family, FolderFiles } from '../lib/sherpa/folder.ts';
import type { ModelFacts } from './model-facts.ts';
import { checkTokens } from './tokens.ts';

/** Moonshine returns nothing for audio longer than about 9 s, and reports no times. */
const traits = { hasTimes: false, pieceSeconds: 8 } as const;

const eitherSize = (name: string): readonly string[] => [`${name}.onnx`, `${name}.int8.onnx`];
const eitherFormat = (name: string): readonly string[] => [`${name}.ort`, `${name}.onnx`];

export const moonshineV1: Family<ModelFacts> = {
  title: 'Moonshine',
  files: {
    preprocessor: eitherSize('preprocess'),
    encoder: eitherSize('encode'),
    uncachedDecoder: eitherSize('uncached_decode'),
    cachedDecoder: eitherSize('cached_decode'),
    tokens: ['tokens.txt'],
  },
  isOwn: () => true,
  judge: (files) => factsOf(files, false),
};

export const moonshineV2: Family<ModelFacts> = {
  title: 'Moonshine',
  files: {
    encoder: eitherFormat('encoder_model'),
    mergedDecoder: eitherFormat('decoder_model_merged'),
    tokens: ['tokens.txt'],
  },
  isOwn: () => true,
  judge: (files) => factsOf(files, true),
};

function factsOf({ paths: { tokens = '', ...moonshine }, bytes }: FolderFiles, isBase64: boolean): ModelFacts {
  const marksWords = checkTokens(tokens, { isBase64 });
  return { file: Object.values(moonshine)[0] ?? '', bytes, config: { moonshine, tokens }, marksWords, ...traits };
}
