/** The two models that find speakers: one for segmentation, one for voice embeddings. */
import { join } from 'node:path';
import { Catalog } from '../catalog.ts';
import { explained, rememberFiles, requireCount, Unusable, type Judged } from '../model-files.ts';
import { readOnnxFile, type Metadata } from '../sherpa/onnx-file.ts';

export const assetId = 'speakers';

const segmentation =
  'csukuangfj/sherpa-onnx-pyannote-segmentation-3-0/resolve/9403a6902bb58e3d5ae8c7e77c3422de279db2e0/model.onnx';
/** The misspelling is upstream's. */
const embeddings = 'https://github.com/k2-fsa/sherpa-onnx/releases/download/speaker-recongition-models';

/** License of the second file: CC-BY-4.0 on NVIDIA's card, Apache-2.0 in other catalogs. */
export const catalog = new Catalog('https://huggingface.co', 'models', {
  [assetId]: {
    title: 'Speakers: pyannote segmentation 3.0, NVIDIA TitaNet small',
    label: 'Speakers (who spoke)',
    purpose: 'Good for conversations: transcripts say who spoke.',
    license: 'MIT (pyannote, by CNRS), CC-BY-4.0 (TitaNet, by NVIDIA; also stated as Apache-2.0)',
    hasFolder: true,
    files: [
      { path: segmentation, bytes: 5_992_913, digest: '220ad67ca923bef2fa91f2390c786097bf305bceb5e261d4af67b38e938e1079' }, // prettier-ignore
      { path: `${embeddings}/nemo_en_titanet_small.onnx`, bytes: 40_257_283, digest: 'ad4a1802485d8b34c722d2a9d04249662f2ece5d28a7a039063ca22f515a789e' }, // prettier-ignore
    ],
  },
});

/** Names of the files in the folder, as in the catalog. */
const names = {
  segmentation: 'model.onnx',
  embedding: 'nemo_en_titanet_small.onnx',
} as const;

export interface SpeakerFiles {
  readonly segmentation: string;
  readonly embedding: string;
  /** Size of both files. */
  readonly bytes: number;
}

/** Checks the files of a folder again only if they have changed. */
export function inspectFolder(folder: string): () => Promise<Judged<SpeakerFiles>> {
  const [segmentation, embedding] = [join(folder, names.segmentation), join(folder, names.embedding)];
  return rememberFiles([segmentation, embedding], () => {
    const sizes = [
      explained(segmentation, () => judge(segmentation, checkSegmentation)),
      explained(embedding, () => judge(embedding, checkEmbedding)),
    ];
    return { segmentation, embedding, bytes: sizes.reduce((sum, size) => sum + size, 0) };
  });
}

function judge(path: string, check: (metadata: Metadata) => void): number {
  const { bytes, metadata } = readOnnxFile(path);
  check(metadata);
  return bytes;
}

const segmentationCounts = [
  'window_size',
  'receptive_field_size',
  'receptive_field_shift',
  'num_speakers',
  'powerset_max_classes',
  'num_classes',
] as const;

/** The library ends its process if one of these is missing, or if the window is 0. */
function checkSegmentation(metadata: Metadata): void {
  for (const name of segmentationCounts) requireCount(metadata.get(name), name, 10_000_000);
  requireRate(metadata);
}

function checkEmbedding(metadata: Metadata): void {
  const framework = metadata.get('framework') ?? '';
  if (!['wespeaker', '3d-speaker', 'nemo'].includes(framework)) {
    throw new Unusable(`its framework is "${framework}", not wespeaker, 3d-speaker or nemo`);
  }
  const counts =
    framework === 'nemo' ? ['output_dim', 'feat_dim', 'window_size_ms', 'window_stride_ms'] : ['output_dim'];
  for (const name of counts) requireCount(metadata.get(name), name, 100_000);
  requireRate(metadata);
}

function requireRate(metadata: Metadata): void {
  if (metadata.get('sample_rate') !== '16000') throw new Unusable('its sample_rate must be 16000');
}
