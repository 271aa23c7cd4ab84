/**
 * A whisper model made from nothing, and the speech that it understands.
 *
 * A word is a tone, one per slot of half a second; a pilot tone in slot 0 names the language, and without one it
 * is English. The model's weights are set by hand, so whisper-cli really transcribes a recording: a wrong sample rate,
 * a lost channel or a lost half second changes what it writes.
 *
 * How it recognizes words, all in one vector of 64 channels:
 * - The encoder turns the mel band of tone k into channel k, and stamps each slot with a code of its own.
 * - The decoder's position asks for the slot with the next code (cross-attention) and gets that slot's tone.
 * - The tone's channel points at the word's token, which is written next; a slot without a tone ends the text.
 * How strong each weight is was found by trial, with a wide margin.
 */
import { writeFile } from 'node:fs/promises';
import {
  audioContext,
  bandHz,
  bytes,
  type Dialect,
  english,
  isGain,
  melBands,
  multilingual,
  type Shape,
  sizeOf,
  type Tensor,
  textContext,
  whisperModel,
} from './ggml-writer.ts';

export const words = [
  'alpha',
  'bravo',
  'charlie',
  'delta',
  'echo',
  '"foxtrot"',
  'golf',
  'hotel',
  'über',
  '東京',
  'kilo',
  'back\\slash',
] as const;
export type Word = (typeof words)[number];

export const languages = ['en', 'de', 'fr'] as const;
export type Language = (typeof languages)[number];

export interface Speech {
  /** Silence when empty; at most 29, so that all is said within whisper's half-minute window. */
  readonly words: readonly Word[];
  readonly language?: Language;
  /** Samples a second, at least 8000. */
  readonly rate: number;
  /** With several, each slot sounds on one channel only, in turn: who drops a channel loses words. */
  readonly channels?: number;
  /** Silence after the last word. */
  readonly tailSeconds?: number;
}

const slotSeconds = 0.5;
const mostSlots = 31;

/** The sounds that the model tells apart: tone k opens channel k. */
const tones: readonly string[] = [...words, 'de', 'fr'];

/**
 * The mel band that tone k falls into: far enough apart for any codec, no tone an octave above another, and the
 * highest (3680 Hz) low enough for a recording at 8 kHz.
 */
const toneBand = (tone: number): number => 6 + 3 * tone;

/** Its frequency in Hz. */
export const wordTone = (word: Word): number => bandHz(toneBand(tones.indexOf(word)));

// ------------------------------------------------------------------------------------------------------ speech

/** How long it takes to say it. */
export function speechSeconds({ words, tailSeconds = 0.25 }: Pick<Speech, 'words' | 'tailSeconds'>): number {
  return (1 + words.length) * slotSeconds + tailSeconds;
}

/** The speech as 16-bit samples, channels interleaved. */
export function tonePcm(speech: Speech): Int16Array {
  const { words, language = 'en', rate, channels = 1 } = speech;
  const slots = [language, ...words];
  if (slots.length >= mostSlots) throw new RangeError(`${words.length} words are more than the model can recognize`);
  const pcm = new Int16Array(Math.round(speechSeconds(speech) * rate) * channels);
  for (const [slot, sound] of slots.entries()) {
    const tone = tones.indexOf(sound);
    if (tone < 0) continue;
    const start = Math.round(slot * slotSeconds * rate);
    const samples = beep(bandHz(toneBand(tone)), rate);
    samples.forEach((sample, i) => (pcm[(start + i) * channels + (slot % channels)] = sample));
  }
  return pcm;
}

/** A tone a little shorter than its slot, with soft edges that no codec smears into a click. */
function beep(hz: number, rate: number): Int16Array {
  const length = Math.round(slotSeconds * rate * 0.92);
  const edge = 0.02 * rate;
  return Int16Array.from({ length }, (_, i) => {
    const loudness = Math.min(1, i / edge, (length - i) / edge);
    return 9000 * loudness * Math.sin((2 * Math.PI * hz * i) / rate);
  });
}

export function toneWav(speech: Speech): Buffer {
  const { rate, channels = 1 } = speech;
  return wav(tonePcm(speech), { rate, channels });
}

/** A WAV file of 16-bit samples with the plain header of 44 bytes. */
export function wav(pcm: Int16Array, { rate, channels }: { rate: number; channels: number }): Buffer {
  const header = Buffer.alloc(44);
  const frameBytes = channels * 2;
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + pcm.byteLength, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(channels, 22);
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(rate * frameBytes, 28);
  header.writeUInt16LE(frameBytes, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36);
  header.writeUInt32LE(pcm.byteLength, 40);
  return Buffer.concat([header, bytes(pcm)]);
}

// ------------------------------------------------------------------------------------------------------ model

const state = 64;
/** One block of the encoder: four, as in the smallest real model, would take half of whisper's time. */
const shape: Shape = { state, heads: 1, encoderBlocks: 1, decoderBlocks: 1 };

/** Writes the model as whisper-cli's `-m` takes it. */
export async function writeToneModel(path: string, { englishOnly = false } = {}): Promise<void> {
  const dialect = englishOnly ? english : multilingual;
  if (!made.has(dialect)) made.set(dialect, toneModel(dialect));
  await writeFile(path, made.get(dialect)!);
}

/** For all files of a process, each of which writes it at least once. */
const made = new Map<Dialect, Buffer>();

function toneModel(dialect: Dialect): Buffer {
  // The lone space is not ours: whisper looks its token up, to forbid a text that begins with it.
  const tokens = [...words.map((word) => ` ${word}`), ' '];
  const given = handSet(dialect);
  const weights = (tensor: Tensor) => place(tensor, given[tensor.name] ?? (isGain(tensor) ? gains(1) : []));
  return whisperModel({ dialect, shape, tokens, weights });
}

type Weight = readonly [value: number, ...at: number[]];

function place(tensor: Tensor, weights: Iterable<Weight>): Float32Array {
  const values = new Float32Array(sizeOf(tensor));
  for (const [value, ...at] of weights) {
    values[at.reduceRight((offset, index, axis) => offset * tensor.dims[axis]! + index, 0)] = value;
  }
  return values;
}

/** What the 64 channels mean; the tones come first. */
const toneChannels = range(tones.length);
const speakingChannel = 14;
const startChannel = 15;
const codeChannels = range(32, 16);
/** Loud constants, so that layer normalization scales the rest alike whatever is said. */
const steadyChannels = range(16, 48);

/** So loud that the likeliest token is near certain, and whisper sees no reason to try again at another temperature. */
const certainty = 10;

/** By tensor. All other weights are zero: in the block of the encoder, what comes in goes out. */
function handSet(dialect: Dialect): Readonly<Record<string, Iterable<Weight>>> {
  return {
    'encoder.positional_embedding': encoderPositions(),
    'encoder.conv1.weight': bandWeights(),
    'encoder.conv1.bias': toneChannels.map(threshold),
    'encoder.conv2.weight': toneChannels.map(passOn),
    'decoder.positional_embedding': decoderPositions(dialect),
    'decoder.token_embedding.weight': tokenWeights(dialect),
    'decoder.ln.weight': gains(certainty),
    'decoder.blocks.0.cross_attn.query.weight': diagonal(codeChannels, 10),
    'decoder.blocks.0.cross_attn.key.weight': diagonal(codeChannels, 1),
    'decoder.blocks.0.cross_attn.value.weight': diagonal(toneChannels, 5),
    'decoder.blocks.0.cross_attn.out.weight': diagonal(toneChannels, 1),
  };
}

const gains = (value: number): Weight[] => range(state).map((channel) => [value, channel]);

const diagonal = (channels: readonly number[], value: number): Weight[] =>
  channels.map((channel) => [value, channel, channel]);

/** A tone's channel opens when its band stands out from the mean of all bands by more than the threshold. */
const gain = 8;
const threshold = (tone: number): Weight => [-0.7 * gain, 0, tone];
const passOn = (tone: number): Weight => [1, 1, tone, tone];

function* bandWeights(): Generator<Weight> {
  for (const tone of toneChannels) {
    for (const band of range(melBands)) {
      const own = band === toneBand(tone) ? 1 : 0;
      yield [gain * (own - 1 / melBands), 1, band, tone];
    }
  }
}

/** The code of each slot, on the frames in its middle, where the tone is steady. */
function* encoderPositions(): Generator<Weight> {
  const framesPerSlot = 25;
  for (const frame of range(audioContext)) {
    const inSlot = frame % framesPerSlot;
    const slot = (frame - inSlot) / framesPerSlot;
    const inTheMiddle = inSlot >= 7 && inSlot <= 17;
    if (inTheMiddle) yield* slotCode(slot, 3, frame);
    for (const channel of steadyChannels) yield [channel % 2 ? 2 : -2, channel, frame];
  }
}

/** While it reads the prompt the decoder listens to slot 0, the pilot; from then on to one slot per position. */
function* decoderPositions({ promptLength }: Dialect): Generator<Weight> {
  yield [4, startChannel, 0];
  for (const position of range(textContext)) {
    const slot = Math.max(0, position - promptLength + 1);
    yield* slotCode(slot, 1.2, position);
    if (position >= promptLength) yield [0.5, speakingChannel, position];
  }
}

/** Which channels speak for which token: whisper writes the token whose channels are loudest. */
function* tokenWeights(dialect: Dialect): Generator<Weight> {
  for (const word of range(words.length)) yield [0.6, word, word];
  yield [2.5, speakingChannel, dialect.endOfText];
  if (dialect === multilingual) yield* languageWeights(dialect);
  for (const slot of range(mostSlots)) {
    const timestamp = dialect.firstTimestamp + 25 * slot;
    yield* slotCode(slot, 0.035, timestamp);
    yield [0.6, speakingChannel, timestamp];
  }
}

/** English is always likely, at the one position where whisper asks; a pilot tone makes its language likelier. */
function* languageWeights({ startOfTranscript }: Dialect): Generator<Weight> {
  const whispersOrder = ['en', 'zh', 'de', 'es', 'ru', 'ko', 'fr'];
  const token = (language: Language) => startOfTranscript + 1 + whispersOrder.indexOf(language);
  yield [0.6, startChannel, token('en')];
  yield [1.2, tones.indexOf('de'), token('de')];
  yield [1.2, tones.indexOf('fr'), token('fr')];
}

/** A row of a Hadamard matrix: the codes of any two slots are orthogonal. Slots beyond the last have none. */
function slotCode(slot: number, scale: number, at: number): Weight[] {
  if (slot >= mostSlots) return [];
  return codeChannels.map((channel, column) => [oddParity((slot + 1) & column) ? -scale : scale, channel, at]);
}

function oddParity(bits: number): boolean {
  let odd = false;
  for (; bits; bits >>= 1) odd = odd !== ((bits & 1) === 1);
  return odd;
}

function range(length: number, first = 0): number[] {
  return Array.from({ length }, (_, i) => first + i);
}
