/** Supertonic: four models, one table of characters, and the styles of its voices. It needs no eSpeak NG. */
import { statSync } from 'node:fs';
import { isObject, parseObject } from '../../lib/json.ts';
import { Unusable, explained, readBytes, readText, requireCount } from '../lib/model-files.ts';
import type { Family, FolderFiles } from '../lib/sherpa/folder.ts';
import { readInputs } from '../lib/sherpa/onnx-file.ts';
import { sampleRateOf, type FileSpeaker, type VoiceFacts } from './voice-facts.ts';

/** For each model, an input that only this model has: two swapped models would end the process. */
const inputs = {
  durationPredictor: 'style_dp',
  textEncoder: 'style_ttl',
  vectorEstimator: 'noisy_latent',
  vocoder: 'latent',
} as const;

const eitherSize = (name: string): readonly string[] => [`${name}.onnx`, `${name}.int8.onnx`];

/** The languages of version 3. The first one is used for requests without a language. */
const languages = 'en,ar,bg,cs,da,de,el,es,et,fi,fr,hi,hr,hu,id,it,ja,ko,lt,lv,nl,pl,pt,ro,ru,sk,sl,sv,tr,uk,vi'.split(
  ',',
);

/** The published files are up to 0.5 MB. */
const maxBytes = 16_777_216;

/** The library keeps this much after 10 s of audio with voices of similar size. No figure has been published. */
const memoryBeside = 475_000_000;

export const supertonic: Family<VoiceFacts> = {
  title: 'Supertonic',
  files: {
    durationPredictor: eitherSize('duration_predictor'),
    textEncoder: eitherSize('text_encoder'),
    vectorEstimator: eitherSize('vector_estimator'),
    vocoder: eitherSize('vocoder'),
    ttsJson: ['tts.json'],
    unicodeIndexer: ['unicode_indexer.bin'],
    voiceStyle: ['voice.bin'],
  },
  isOwn: () => true,
  judge,
};

function judge({ paths, bytes }: FolderFiles): VoiceFacts {
  const { vocoder = '', ttsJson = '', unicodeIndexer = '', voiceStyle = '' } = paths;
  for (const [model, input] of Object.entries(inputs)) requireInput(paths[model] ?? '', input);
  const sampleRate = explained(ttsJson, () => readSampleRate(readText(ttsJson, 1_048_576)));
  const isKnown = explained(unicodeIndexer, () => readTable(unicodeIndexer));
  const count = explained(voiceStyle, () => countVoices(voiceStyle));
  const all = bytes + statSync(voiceStyle).size;
  return {
    ...{ file: vocoder, bytes: all, memory: all + memoryBeside, sampleRate, lengthScale: 1 },
    ...{ title: 'Supertonic', speakers: speakersOf(count), family: 'supertonic', needsEspeak: false },
    configure: () => paths,
    toSpeakable: (text) => Array.from(text.normalize('NFKD')).filter(isKnown).join('').normalize(),
  };
}

function requireInput(file: string, input: string): void {
  explained(file, () => {
    if (!readInputs(file).includes(input)) throw new Unusable(`it has no input ${input}: it is another model`);
  });
}

/** Each voice speaks every language: `de-0` is the first voice in German. The files contain no voice names. */
function speakersOf(count: number): FileSpeaker[] {
  return languages.flatMap((language) =>
    Array.from({ length: count }, (_, number) => {
      return { name: `${language}-${number}`, number, language, locale: language, lang: language };
    }),
  );
}

/** Samples of a chunk, and chunks of a frame. The published voices have 512 and 6. */
const maxInFrame = 10_000;

function readSampleRate(text: string): number {
  const { ae, ttl } = parseObject(text) ?? {};
  if (!isObject(ae) || !isObject(ttl)) throw new Unusable('it is not a JSON object with ae and ttl');
  const chunk = requireCount(ae.base_chunk_size, 'base_chunk_size', maxInFrame);
  requireCount(ttl.chunk_compress_factor, 'chunk_compress_factor', maxInFrame);
  requireCount(ttl.latent_dim, 'latent_dim', chunk); // fewer numbers than samples, so that the sound bounds the memory
  return sampleRateOf(ae.sample_rate);
}

/**
 * The table has one number for each code unit, or -1 for an unknown one, which the library would speak as if it were
 * the last of the table.
 */
function readTable(file: string): (character: string) => boolean {
  const bytes = readBytes(file, maxBytes);
  if (bytes.length !== 262_144) throw new Unusable(`it has ${bytes.length} bytes, not 262144`);
  return (character) => {
    const code = character.codePointAt(0) ?? 0;
    return code < 65_536 && bytes.readInt32LE(4 * code) >= 0;
  };
}

/**
 * Checks the sizes of both tables and returns the number of voices. With other sizes, the models would end the process.
 */
function countVoices(file: string): number {
  const bytes = readBytes(file, maxBytes);
  if (bytes.length < 48) throw new Unusable('it is cut');
  const sizes = Array.from({ length: 6 }, (_, index) => Number(bytes.readBigInt64LE(8 * index)));
  const [voices = 0] = sizes;
  if (voices < 1 || sizes.join() !== [voices, 50, 256, voices, 8, 16].join())
    throw new Unusable(`its sizes are ${sizes.join()}, not N,50,256,N,8,16`);
  const expected = 48 + 4 * voices * (50 * 256 + 8 * 16);
  if (bytes.length !== expected)
    throw new Unusable(`it has ${bytes.length} bytes; its ${voices} voices have ${expected}`);
  return voices;
}
