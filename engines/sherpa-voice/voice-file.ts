/** Checks a voice without loading it. */
import { Unusable, explained, readText, rememberFiles, type Judged } from '../lib/model-files.ts';
import { readOnnxFile } from '../lib/sherpa/onnx-file.ts';
import { readPiperConfig, sampleRateOf, type PiperConfig } from './piper-config.ts';

export interface VoiceFacts {
  readonly file: string;
  readonly bytes: number;
  /** As the library reads it: the model's own metadata take precedence over the .onnx.json. */
  readonly config: PiperConfig;
  /** Keys of the model's own metadata. */
  readonly metadata: ReadonlySet<string>;
}

export type VoiceFile = Judged<VoiceFacts>;
export type UsableVoice = Extract<VoiceFile, { readonly ok: true }>;

/** Bytes of memory: the file, 75 MB once it is loaded, and what the library keeps after 10 s of audio. */
export const needOf = ({ bytes }: UsableVoice): number => bytes + 475_000_000;

/** Reads the files again only when they have changed. */
export const rememberVoiceFile = (file: string): (() => Promise<VoiceFile>) =>
  rememberFiles([file, `${file}.json`], () => inspectVoice(file));

/** Piper's voices with many speakers have 20 kB. */
const longestConfig = 4_194_304;

function inspectVoice(file: string): VoiceFacts {
  const json = `${file}.json`;
  const { bytes, metadata } = explained(file, () => readOnnxFile(file));
  const published = explained(json, () => readPiperConfig(readText(json, longestConfig)));
  const config = explained(file, () => withMetadata(published, metadata));
  return { file, bytes, config, metadata: new Set(metadata.keys()) };
}

/** Throws for a model of another kind, which would crash the program, and for metadata that contradict the .onnx.json. */
function withMetadata(config: PiperConfig, metadata: ReadonlyMap<string, string>): PiperConfig {
  const [rate, speakers] = [metadata.get('sample_rate'), metadata.get('n_speakers')];
  if (rate === undefined) return config;
  if ((metadata.get('model_type') ?? 'vits') !== 'vits') throw new Unusable('its model_type is not vits');
  const isSpelled = metadata.get('frontend') === 'characters';
  if (!isSpelled && metadata.get('has_espeak') !== '1') throw new Unusable('it is not a voice of Piper');
  if (speakers !== undefined && Number(speakers) !== config.speakerCount)
    throw new Unusable(`it has ${speakers} speakers, its .onnx.json ${config.speakerCount}`);
  return { ...config, phonemes: isSpelled ? 'text' : 'espeak', sampleRate: sampleRateOf(rate) };
}
