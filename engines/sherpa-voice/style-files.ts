/** Checks the three files that Kokoro and Kitten have in common: a model, voices.bin with the styles, and tokens.txt. */
import { statSync } from 'node:fs';
import { toSpeakable } from '../lib/espeak-text.ts';
import { Unusable, explained, readText } from '../lib/model-files.ts';
import type { Family, FolderFiles } from '../lib/sherpa/folder.ts';
import type { Metadata } from '../lib/sherpa/onnx-file.ts';
import { sampleRateOf, speakerCountOf, type VoiceFacts } from './voice-facts.ts';

interface StyleFamily {
  readonly family: 'kokoro' | 'kitten';
  readonly title: string;
  /** The `model_type` of the model. */
  readonly type: string;
  /** Files that a folder may have in addition to the common ones. */
  readonly files?: Family<unknown>['files'];
  /** How many numbers the model's `style_dim` has: 3 for rows, 1 and columns; 2 for rows and columns. */
  readonly dimensions: 2 | 3;
  /** Memory in bytes in addition to the model. */
  readonly memoryBeside: number;
  /**
   * Characters that the token table must have: otherwise, the library exits or loops forever on a text that contains
   * them.
   */
  readonly signs: (metadata: Metadata) => string;
  /** Returns the speakers, and the configuration apart from the files. `names`: names of the speakers, by number. */
  readonly describe: (model: FolderFiles & { readonly names: readonly string[] }) => {
    readonly speakers: VoiceFacts['speakers'];
    readonly config?: Readonly<Record<string, unknown>>;
  };
}

/** In order of preference: 8-bit weights are slower on most processors. */
const models = ['model.onnx', 'model.fp32.onnx', 'model.fp16.onnx', 'model.int8.onnx'];

export function styleFamily(own: StyleFamily): Family<VoiceFacts> {
  return {
    title: own.title,
    files: { model: models, voices: ['voices.bin'], tokens: ['tokens.txt'], ...own.files },
    isOwn: (metadata) => metadata.get('model_type') === own.type,
    judge: (files) => judge(files, own),
  };
}

function judge(found: FolderFiles, own: StyleFamily): VoiceFacts {
  const { paths, bytes, metadata } = found;
  const { model = '', voices = '', tokens = '' } = paths;
  const size = explained(voices, () => statSync(voices).size);
  const { names, styleBytes, sampleRate } = explained(model, () => factsOf(metadata, own, size));
  explained(voices, () => {
    if (size !== styleBytes)
      throw new Unusable(`it has ${size} bytes; the ${names.length} voices of the model have ${styleBytes}`);
  });
  explained(tokens, () => checkTokens(readText(tokens, maxTableLength), own.signs(metadata)));
  const { speakers, config } = own.describe({ ...found, names });
  return {
    ...{ file: model, bytes: bytes + styleBytes, memory: bytes + own.memoryBeside, sampleRate, lengthScale: 1 },
    ...{ family: own.family, title: own.title, speakers, needsEspeak: true, toSpeakable },
    configure: () => ({ model, voices, tokens, lengthScale: 1, ...config }),
  };
}

/** Rows and columns of a style. Published styles have up to 510 and 256. */
const maxInStyle = 10_000;

/** Throws for metadata with which the library would exit or produce noise. `bytes` is the size of all styles. */
function factsOf(metadata: Metadata, { dimensions }: StyleFamily, bytes: number) {
  const sampleRate = sampleRateOf(metadata.get('sample_rate'));
  const count = speakerCountOf(metadata.get('n_speakers'), 'n_speakers', bytes);
  if (metadata.get('has_espeak') !== '1') throw new Unusable('its has_espeak must be 1');
  const style = (metadata.get('style_dim') ?? '').split(',').map(Number);
  const isComplete =
    style.length === dimensions && style.every((size) => Number.isInteger(size) && size > 0 && size <= maxInStyle);
  if (!isComplete || (dimensions === 3 && style[1] !== 1))
    throw new Unusable(
      `its style_dim must be ${dimensions} sizes, such as ${dimensions === 3 ? '510,1,256' : '400,256'}`,
    );
  return { sampleRate, names: namesOf(metadata, count), styleBytes: 4 * count * style.reduce((a, b) => a * b) };
}

/** `speaker_names` is `a,b`, `speaker2id` is `a->0,b->1`. A model may have neither: then, a number is the name. */
function namesOf(metadata: Metadata, count: number): string[] {
  const listed = metadata.get('speaker_names') ?? metadata.get('speaker2id')?.replace(/->\d+/g, '') ?? '';
  const names = listed
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  if (names.length === 0) return Array.from({ length: count }, (_, number) => String(number));
  if (names.length === count && new Set(names).size === count) return names;
  throw new Unusable(`it has ${count} speakers, but ${new Set(names).size} names`);
}

/**
 * Phonemes of English, from all parts of the table: the library silently skips phonemes that a truncated table lacks.
 */
const phonemes = ' aˈːᵻ';

const maxTableLength = 65_536;

/** All published models of both families have the table of StyleTTS 2. Its size is not in their metadata. */
const tableSize = 178;

/** The library exits on a line in another format, and on the first text with a number outside the table. */
function checkTokens(text: string, signs: string): void {
  const lines = text.split('\n').filter((line) => line !== '');
  const tokens = lines.map((line) => /^(.) (\d{1,6})\r?$/u.exec(line) ?? wrongLine(line));
  const numbers = tokens.map(([, , number]) => Number(number));
  const tooLarge = numbers.find((number) => number >= tableSize);
  if (tooLarge !== undefined) throw new Unusable(`the number ${tooLarge} is not below ${tableSize}`);
  const twice = numbers.find((number, index) => numbers.indexOf(number) !== index);
  if (twice !== undefined) throw new Unusable(`the number ${twice} occurs twice`);
  const missing = Array.from(signs + phonemes).find((sign) => !tokens.some(([, symbol]) => symbol === sign));
  if (missing !== undefined) throw new Unusable(`it lacks the sign ${missing}`);
}

function wrongLine(line: string): never {
  throw new Unusable(`"${line.slice(0, 40)}" is not a character, a space and a number`);
}
