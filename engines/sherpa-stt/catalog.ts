/** Models that can be downloaded. The digests are the same in several independent public repositories. */
import { Catalog, type CatalogModel } from '../lib/catalog.ts';
import { parakeetLanguages } from './nemo.ts';

const parakeet =
  'csukuangfj/sherpa-onnx-nemo-parakeet-tdt-0.6b-v3-int8/resolve/2bda32ec70b097a55adaa07d9a7173915b43cc78';

/** The export of 2025-09-09 makes more mistakes in Japanese, Korean and English. */
const senseVoice =
  'csukuangfj/sherpa-onnx-sense-voice-zh-en-ja-ko-yue-2024-07-17/resolve/2365baeacb507f821a0c8120fcee3d484dba7a07';

const models: Readonly<Record<string, CatalogModel & { readonly languages?: readonly string[] }>> = {
  'parakeet-v3': {
    title: 'Parakeet TDT 0.6B v3',
    label: 'Transcription in 25 European languages (Parakeet TDT v3)',
    purpose: 'Good for fast dictation in 25 languages: it finds the language itself.',
    license: 'CC-BY-4.0',
    hasFolder: true,
    languages: parakeetLanguages,
    files: [
      {
        path: `${parakeet}/tokens.txt`,
        bytes: 93_939,
        digest: 'd58544679ea4bc6ac563d1f545eb7d474bd6cfa467f0a6e2c1dc1c7d37e3c35d',
      },
      {
        path: `${parakeet}/joiner.int8.onnx`,
        bytes: 6_355_277,
        digest: '3164c13fc2821009440d20fcb5fdc78bff28b4db2f8d0f0b329101719c0948b3',
      },
      {
        path: `${parakeet}/decoder.int8.onnx`,
        bytes: 11_845_275,
        digest: '179e50c43d1a9de79c8a24149a2f9bac6eb5981823f2a2ed88d655b24248db4e',
      },
      {
        path: `${parakeet}/encoder.int8.onnx`,
        bytes: 652_184_281,
        digest: 'acfc2b4456377e15d04f0243af540b7fe7c992f8d898d751cf134c3a55fd2247',
      },
    ],
  },
  'sense-voice': {
    title: 'SenseVoice Small',
    label: 'Transcription in Chinese, Cantonese, English, Japanese and Korean (SenseVoice)',
    purpose: 'Good for fast Chinese, Cantonese, Japanese and Korean.',
    license: 'FunASR Model Open Source License',
    hasFolder: true,
    files: [
      {
        path: `${senseVoice}/tokens.txt`,
        bytes: 315_894,
        digest: 'f449eb28dc567533d7fa59be34e2abca8784f771850c78a47fb731a31429a1dc',
      },
      {
        path: `${senseVoice}/model.int8.onnx`,
        bytes: 239_233_841,
        digest: 'c71f0ce00bec95b07744e116345e33d8cbbe08cef896382cf907bf4b51a2cd51',
      },
    ],
  },
};

export const catalog = new Catalog('https://huggingface.co', 'models', models);

export const languagesOf = (id: string | undefined): readonly string[] | undefined => models[id ?? '']?.languages;
