/** Voices of Piper: NAME.onnx with its NAME.onnx.json. */
import { copyFile, appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { toSpeakable } from '../lib/espeak-text.ts';
import { Unusable, explained, readText, rememberFiles, type Judged } from '../lib/model-files.ts';
import { readOnnxFile } from '../lib/sherpa/onnx-file.ts';
import { metadataFields, metadataOf, tokensFile } from './piper-files.ts';
import { readPiperConfig, type PiperConfig } from './piper-config.ts';
import { sampleRateOf, type FileSpeaker, type VoiceFacts } from './voice-facts.ts';

export interface PiperFacts extends VoiceFacts {
  /** As the library reads it: the model's own metadata takes precedence over the .onnx.json. */
  readonly config: PiperConfig;
  /** Keys of the model's own metadata. */
  readonly metadata: ReadonlySet<string>;
}

/** Memory in addition to the file: 75 MB once it is loaded, plus what the library keeps after 10 s of audio. */
export const memoryBeside = 475_000_000;

/** Reads the files again only when they have changed. */
export const rememberPiper = (file: string): (() => Promise<Judged<PiperFacts>>) =>
  rememberFiles([file, `${file}.json`], () => inspectPiper(file));

/** For Piper's voices with many speakers, this file is 20 kB. */
const maxConfigLength = 4_194_304;

export function inspectPiper(file: string): PiperFacts {
  const json = `${file}.json`;
  const { bytes, metadata } = explained(file, () => readOnnxFile(file));
  const published = explained(json, () => readPiperConfig(readText(json, maxConfigLength), bytes));
  const config = explained(file, () => withMetadata(published, metadata));
  return {
    file,
    bytes,
    memory: bytes + memoryBeside,
    config,
    metadata: new Set(metadata.keys()),
    ...factsOf(file, config, metadata),
  };
}

function factsOf(file: string, config: PiperConfig, present: ReadonlyMap<string, string>) {
  const metadata = metadataOf(config);
  const isWhole = Object.keys(metadata).every((key) => present.has(key));
  const { sampleRate, lengthScale, noiseScale, noiseW, dataset } = config;
  return {
    ...{ sampleRate, lengthScale, title: dataset, speakers: speakersOf(config), toSpeakable },
    family: 'vits',
    needsEspeak: config.phonemes === 'espeak',
    configure: (directory: string) => ({
      model: isWhole ? file : join(directory, 'voice.onnx'),
      tokens: join(directory, 'tokens.txt'),
      // `generate` replaces the length scale with 1 / speed, unless the speed is 1.
      ...{ noiseScale, noiseScaleW: noiseW, lengthScale: 1 },
    }),
    async convert(directory: string) {
      await writeFile(join(directory, 'tokens.txt'), tokensFile(config));
      if (isWhole) return;
      await copyFile(file, join(directory, 'voice.onnx'));
      await appendFile(join(directory, 'voice.onnx'), metadataFields(metadata));
    },
  } as const;
}

function speakersOf({ speakers, language, locale }: PiperConfig): FileSpeaker[] {
  if (speakers.size === 0) return [{ number: 0, language, locale }];
  return Array.from(speakers, ([name, number]) => ({ name, number, language, locale }));
}

/**
 * Throws for a model of another kind, which would crash the program, and for metadata that contradicts the .onnx.json.
 */
function withMetadata(config: PiperConfig, metadata: ReadonlyMap<string, string>): PiperConfig {
  const [rate, speakers] = [metadata.get('sample_rate'), metadata.get('n_speakers')];
  if (speakers !== undefined && Number(speakers) !== config.speakerCount)
    throw new Unusable(`it has ${speakers} speakers, its .onnx.json ${config.speakerCount}`);
  if (rate === undefined) return config;
  if ((metadata.get('model_type') ?? 'vits') !== 'vits') throw new Unusable('its model_type is not vits');
  const isSpelled = metadata.get('frontend') === 'characters';
  if (!isSpelled && metadata.get('has_espeak') !== '1') throw new Unusable('it is not a voice of Piper');
  return { ...config, phonemes: isSpelled ? 'text' : 'espeak', sampleRate: sampleRateOf(rate) };
}
